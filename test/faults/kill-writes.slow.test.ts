import { describe, expect, it } from "vitest";
import { startService } from "../support/service.ts";
import { copyForAll, startCli } from "./cli-process.ts";
import { inLanes } from "./in-lanes.ts";
import { canaries, mixedProject } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const program = copyForAll();

/** A create that can't be looked up, one that can, and a relation: every record that dimsync keeps is written. What is left out is done afterwards. */
const applyPart = ["apply", "--yes", "-q", "--only", "Asset/archive", "--only", "Integration/returns", "--only", "Tag/gold#m-1"];

interface Killed {
  readonly killed: boolean;
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

/** Kills a process that applies at the NTH operation by which it changes a file. */
async function killAtWrite(nth: number, torn: boolean): Promise<Killed> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" } });
  const project = mixedProject(service, { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 });
  try {
    const preload = new URL(`./kill-at.mjs?at=${nth}&torn=${torn ? 1 : 0}`, import.meta.url).href;
    const { signal, stderr } = await startCli(program(), applyPart, project.folder, canaries, ["--import", preload]).ended;
    if (signal !== "SIGKILL") {
      if (!/^operations: \d+$/mu.test(stderr)) throw new Error(`The process ended by itself: ${stderr}`);
      return { killed: false, asked: false, wrong: [] };
    }
    const settled = await settleAccount(service, project);
    const wrong = settled.wrong.map((what) => `write ${nth}${torn ? ", torn" : ""}: ${what}`);
    return { killed: true, asked: settled.resolved.length > 0, wrong };
  } catch (error) {
    return { killed: true, asked: false, wrong: [`write ${nth}${torn ? ", torn" : ""}: ${String(error)}`] };
  } finally {
    await service.close();
    project.remove();
  }
}

describe("SIGKILL at every file write: the next runs finish the work, and nothing is there twice or lost", () => {
  it("every second operation before it is carried out, every other one when it is half done", { timeout: 300_000 }, async () => {
    const outcomes = await inLanes(
      3,
      (nth) => killAtWrite(nth, nth % 2 === 0),
      ({ killed }) => !killed,
    );
    const kills = outcomes.filter(({ killed }) => killed);
    const failures = kills.flatMap(({ wrong }) => wrong);
    const asked = kills.filter((outcome) => outcome.asked).length;
    console.info(`SIGKILL at file writes: ${kills.length} cases, ${asked} asked a person, ${failures.length} failures`);
    expect(failures).toEqual([]);
    expect(kills.length).toBeGreaterThan(100);
  });
});
