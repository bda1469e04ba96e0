import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { sampleOf, sampleSeed } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { copyForAll, operationsIn, startCli } from "./cli-process.ts";
import { canaries, mixedProject } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const program = copyForAll();
const client = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

/** A create that can't be looked up, one that can, and a relation: every record that dimsync keeps is written. What is left out is done afterwards. */
const applyPart = ["apply", "--yes", "-q", "--only", "Asset/archive", "--only", "Integration/returns", "--only", "Tag/gold#m-1"];

const preload = (parameters: string): string => new URL(`./kill-at.mjs?${parameters}`, import.meta.url).href;

interface Case {
  readonly nth: number;
  /** Such as "rename dimsync.bindings.yaml.*.tmp". */
  readonly operation: string;
  /** The operation is half done before the process is killed. */
  readonly torn: boolean;
}

interface Killed {
  readonly killed: boolean;
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

/** Every operation by which an undisturbed apply changes a file, and once more those that can be half done. */
async function recordedOperations(): Promise<readonly Case[]> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" } });
  const project = mixedProject(service, client);
  try {
    const { code, stderr } = await startCli(program(), applyPart, project.folder, canaries, ["--import", preload("at=0")]).ended;
    expect(code, stderr).toBe(0);
    return operationsIn(stderr).flatMap((operation, index) => {
      const whole = { nth: index + 1, operation, torn: false };
      return /^write|^append/u.test(operation) ? [whole, { ...whole, torn: true }] : [whole];
    });
  } finally {
    await service.close();
    project.remove();
  }
}

/** Kills an apply at the NTH operation that changes a file. */
async function killAtWrite({ nth, operation, torn }: Case): Promise<Killed> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" } });
  const project = mixedProject(service, client);
  const place = `operation ${nth}, ${operation}${torn ? ", torn" : ""}`;
  try {
    const nodeArgs = ["--import", preload(`at=${nth}&torn=${torn ? 1 : 0}`)];
    const { code, signal, stderr } = await startCli(program(), applyPart, project.folder, canaries, nodeArgs).ended;
    if (signal !== "SIGKILL") {
      if (operationsIn(stderr).length >= nth) throw new Error(`The process ended by itself with ${code}: ${stderr}`);
      return { killed: false, asked: false, wrong: [] };
    }
    if (torn) ageLock(project.folder);
    const settled = await settleAccount(service, project);
    return { killed: true, asked: settled.resolved.length > 0, wrong: settled.wrong.map((what) => `${place}: ${what}`) };
  } catch (error) {
    return { killed: true, asked: false, wrong: [`${place}: ${String(error)}`] };
  } finally {
    await service.close();
    project.remove();
  }
}

/** Sets the lock back by ten minutes: one that cannot be read is only taken over when it is old. */
function ageLock(folder: string): void {
  const file = join(folder, ".dimsync", "lock-test.json");
  const then = Date.now() / 1000 - 600;
  if (existsSync(file)) utimesSync(file, then, then);
}

describe("SIGKILL at every kind of file write: the next runs finish the work, and nothing is there twice or lost", () => {
  it("before the operation is carried out, and when it is half done", { timeout: 600_000 }, async () => {
    const all = await recordedOperations();
    const cases = sampleOf(all, {
      name: "kill at writes",
      // The locks of journal and bindings are taken in the same way.
      // An operation is half done in one of two runs of the tests, or only there.
      kindOf: ({ operation }) => operation.replace(/\S+(?=\.lock\b)/u, "file"),
      // Each line of the journal means something else.
      most: (kind) => (/^(?:write|sync) journal\.ndjson/u.test(kind) ? 2 : 1),
    });
    const outcomes = await pLimit(3).map(cases, killAtWrite);
    const kills = outcomes.filter(({ killed }) => killed);
    const failures = kills.flatMap(({ wrong }) => wrong);
    const asked = kills.filter((outcome) => outcome.asked).length;
    console.info(
      `SIGKILL at file writes: ${kills.length} of ${all.length} cases, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
        `${asked} asked the user, ${failures.length} failures`,
    );
    expect(failures).toEqual([]);
    expect(kills.length).toBeGreaterThan(15);
  });
});
