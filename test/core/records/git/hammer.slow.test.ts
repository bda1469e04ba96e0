// Many machines at once lose and duplicate nothing, whatever fails.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import type { GitFault } from "../../../support/git/http.ts";
import { isAll, sampleOf, sampleSeed } from "../../../support/sample.ts";
import { tempFolder } from "../child.ts";
import { testClock } from "../clock.ts";
import { intentOf } from "../suite.ts";
import { begun, httpStore } from "./git-store.ts";
import { type HammerOptions, type HammerReport, hammer } from "./hammer.ts";

const seconds = Number(process.env["DIMSYNC_HAMMER_SECONDS"] ?? (isAll ? 60 : 5));
// Which process is first still depends on the machine.
const seed = sampleSeed;

type Changes = readonly (readonly [from: RegExp, to: string])[];

/** Compiles the worker, as a broken variant if there are changes. Throws if one of them finds nothing. */
async function compiled(changes: Changes = []): Promise<string> {
  const outfile = join(await tempFolder(), "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("hammer-worker.ts", import.meta.url))],
    ...{ outfile, bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "error" },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  let code = await readFile(outfile, "utf8");
  for (const [from, to] of changes) {
    if (!from.test(code)) throw new Error(`The worker does not contain ${String(from)}`);
    code = code.replace(from, to);
  }
  await writeFile(outfile, code);
  return outfile;
}

const violations = ({ lost, doubledCreates, lostIds, leftOpen }: HammerReport): readonly string[] => [
  ...lost.map((what) => `lost: ${what}`),
  ...doubledCreates.map((what) => `created twice: ${what}`),
  ...lostIds.map((what) => `id lost: ${what}`),
  ...leftOpen.map((what) => `left open: ${what}`),
];

function print(name: string, report: HammerReport, usedSeed: number): void {
  const { commits, intended, created, kills, freezes, faults, failed } = report;
  const counts = `${commits} commits, ${intended} intents, ${created} objects, ${kills} kills, ${freezes} freezes, ${faults} faults`;
  console.log(`hammer, ${name}, seed ${usedSeed}: ${counts}, ${violations(report).length} violations, ${JSON.stringify(failed)}`);
}

/** Hammers until a round suffices, for at most 20 rounds: a slow machine pushes so rarely that it needs several ones. */
async function rounds(
  name: string,
  options: Omit<HammerOptions, "seed" | "machines" | "ttlMs">,
  suffices: (report: HammerReport) => boolean,
): Promise<readonly HammerReport[]> {
  const reports: HammerReport[] = [];
  for (let ttlMs = 6_000; reports.length < 20 && !reports.some(suffices) && !options.signal.aborted; ) {
    const usedSeed = seed + reports.length;
    const report = await hammer({ ...options, seed: usedSeed, machines: 6, ttlMs });
    print(`${name}, round ${reports.length + 1}`, report, usedSeed);
    reports.push(report);
    // No write was in time.
    if (report.created === 0) ttlMs = Math.min(2 * ttlMs, 48_000);
  }
  return reports;
}

it("loses and duplicates nothing and leaves nothing open, whatever fails", { timeout: (seconds + 600) * 1000 }, async ({ signal }) => {
  const isTest = ({ created, faults }: HammerReport): boolean => created > 0 && faults > 0;
  const reports = await rounds("as built", { program: await compiled(), seconds, signal }, isTest);
  expect(reports.flatMap(violations)).toEqual([]);
  expect(reports.some(isTest)).toBe(true);
});

it("gives the lease to one of 20 machines that request it at the same time", async () => {
  const { open, http } = await httpStore();
  // Patience ends after some attempts, however long they take.
  const machines = Array.from({ length: 20 }, () => open({ ttlMs: 300_000, clock: testClock() }));
  for (const fault of sampleOf([undefined, "twice"] as const, { name: "fault of the first push", kindOf: () => "fault" })) {
    let pushes = 0;
    http.setFault(({ service, isListing }) => (service === "receive-pack" && !isListing && ++pushes === 1 ? fault : undefined));
    const runs = await Promise.all(
      machines.map(async (records, index) => {
        const run = await begun(records, `run-${index}`).catch(() => undefined);
        const ids = await run?.intend([intentOf("Asset/a")]).catch((error: unknown) => {
          expect(error).toMatchObject({ code: "E_LOCKED", exit: 6 });
        });
        return ids === undefined ? undefined : { run, entryId: ids[0] ?? "" };
      }),
    );
    const winners = runs.filter((won) => won !== undefined);
    expect(winners).toHaveLength(1);
    for (const { run, entryId } of winners) {
      await run?.settle(entryId, { outcome: "not-created" });
      await run?.release();
    }
  }
});

/** Each breaks a rule of the protocol; the fault shows it. */
const variants: readonly { readonly name: string; readonly changes: Changes; readonly fault: GitFault }[] = [
  // A late push overwrites what another machine has stored meanwhile.
  { name: "that pushes with --force", changes: [[/`--force-with-lease=[^`]*parent[^`]*`/u, '"--force"']], fault: "late" },
  // The second of two equal pushes is rejected, although the first one was stored.
  {
    name: "that trusts the rejection in git's output",
    changes: [
      [/if \(accepted\)\s+return \{ outcome: "stored", tip: \w+ \};/u, '$& if (rejected) return { outcome: "refused", words };'],
      [/await \w+\.outcomeOf\(uncertain\.tip, uncertain\.parent\)/u, '"unchanged"'],
    ],
    fault: "twice",
  },
];

describe("catches a variant", () => {
  for (const { name, changes, fault } of variants)
    it(name, async ({ signal }) => {
      const program = await compiled(changes);
      const options = { program, seconds: 4, faults: [fault], faultRate: 0.5, signal };
      const reports = await rounds(name, options, (report) => violations(report).length > 0);
      expect(reports.flatMap(violations)).not.toEqual([]);
    });
});
