import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diffLines } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runPlan } from "../../src/commands/core/plan.ts";
import { runFmt } from "../../src/commands/setup/fmt.ts";
import type { FmtFlags, PlanFlags } from "../../src/commands/shared/flags.ts";
import type { Plan } from "../../src/model/plan.ts";
import { type AccountProject, openAccountProject } from "../support/account-project.ts";
import { accountState, liveChange, makeChange } from "./random-account.ts";

const runs = { numRuns: Number(process.env["FC_RUNS"] ?? 25) };

async function inWorld<T>(world: Promise<AccountProject>, work: (world: AccountProject) => Promise<T>): Promise<T> {
  const opened = await world;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

test.each(["camel", "snake"] as const)(
  "of any account (%s) the plan after import is empty, and a second import changes nothing",
  async (schemaForm) => {
    await fc.assert(
      fc.asyncProperty(accountState, fc.boolean(), (state, literal) =>
        inWorld(openAccountProject(state, { schemaForm }), async (world) => {
          const report = await world.importJson({ literal });
          expect(report.failures).toEqual([]);
          expect(report.remaining).toEqual([]);
          expect(report.exit.code).toBe(0);
          expect(await warnings(world)).toEqual([]);
          expect(Object.keys(world.service.counts()).filter((method) => method !== "GET")).toEqual([]);
          expect(await world.run<FmtFlags>(runFmt, { check: true })).toEqual({ code: 0, out: "", err: "" });
          const before = await world.files();
          const again = await world.importJson({ literal });
          expect(again.files).toEqual([]);
          expect(await world.files()).toEqual(before);
        }),
      ),
      runs,
    );
  },
  300_000,
);

test("whatever changes live, a second import follows it, keeps every comment, and leaves the other lines alone", async () => {
  await fc.assert(
    fc.asyncProperty(
      accountState,
      fc.array(liveChange, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("camel", "snake"),
      (state, changes, schemaForm) =>
        inWorld(openAccountProject(state, { schemaForm }), async (world) => {
          await world.importJson();
          const commented = await comment(world);
          world.service.mutate((account) => {
            for (const change of changes) makeChange(account, change);
          });
          const report = await world.importJson();
          expect(report.failures).toEqual([]);
          expect(report.remaining).toEqual([]);
          // What was written of the columns of a table stays when the table is switched off, with the comments beside it, and that is told.
          expect((await warnings(world)).filter((one) => !one.startsWith("W_COLUMN_RULES_IN_DISABLED_TABLE"))).toEqual([]);
          expect((await world.run<FmtFlags>(runFmt, { check: true })).out).toBe("");
          const after = await world.files();
          // A comment inside what is gone goes with it.
          const takesAway = changes.some(({ what }) => what.startsWith("drop-") || what === "unrelate");
          for (const [path, text] of takesAway ? [] : Object.entries(commented)) {
            const kept = new Set((after[path] ?? "").split("\n"));
            expect(text.split("\n").filter((line) => line.includes("# kept") && !kept.has(line))).toEqual([]);
          }
          expect((await world.importJson()).files).toEqual([]);
          expect(await world.files()).toEqual(after);
        }),
    ),
    runs,
  );
}, 300_000);

test("one leaf that changes live takes at most one line away, and adds the way to it", async () => {
  const leaf = liveChange.map((change) => ({ ...change, what: leaves[change.at % leaves.length] ?? "paused" }));
  await fc.assert(
    fc.asyncProperty(accountState, leaf, fc.constantFrom("camel", "snake"), (state, change, schemaForm) =>
      inWorld(openAccountProject(state, { schemaForm }), async (world) => {
        await world.importJson();
        const before = await world.files();
        world.service.mutate((account) => makeChange(account, change));
        expect((await world.importJson()).remaining).toEqual([]);
        const after = await world.files();
        const touched = Object.keys(after).filter((path) => after[path] !== before[path]);
        expect(touched.length).toBeLessThanOrEqual(1);
        const parts = touched.flatMap((path) => diffLines(before[path] ?? "", after[path] ?? ""));
        const lines = (kind: "added" | "removed"): number => parts.reduce((sum, part) => sum + (part[kind] ? part.count : 0), 0);
        expect(lines("removed")).toBeLessThanOrEqual(1);
        // schemas, the schema, tables, the table, columns, the column
        expect(lines("added")).toBeLessThanOrEqual(6);
      }),
    ),
    runs,
  );
}, 300_000);

const leaves = ["column-enabled", "column-hashed", "paused", "description", "owner"] as const;

/** What a plan has to warn of: an import writes nothing that needs a second look. That there is nothing in an empty account is no news. */
async function warnings(world: AccountProject): Promise<readonly string[]> {
  const { out, err } = await world.run<PlanFlags>(runPlan, { output: ["json"], failOn: [], allow: [], ignore: [] });
  if (out === "") throw new Error(err);
  const { diagnostics } = JSON.parse(out) as Plan;
  return diagnostics.flatMap(({ severity, code, message }) =>
    severity === "info" || code === "W_NO_MANIFESTS" ? [] : [`${code} ${message}`],
  );
}

/** Puts a comment line above every third line of the manifests. */
async function comment(world: AccountProject): Promise<Readonly<Record<string, string>>> {
  const commented: Record<string, string> = {};
  let number = 0;
  for (const [path, text] of Object.entries(await world.files())) {
    if (!path.startsWith("manifests/")) continue;
    const lines = text.split("\n").flatMap((line, index) => {
      // Inside a wrapped list a comment belongs to the list, and goes with a list that is emptied.
      const isSafe = index % 3 === 0 && /^ *(?:- )?[a-z"']/iu.test(line);
      return isSafe ? [`${/^ */u.exec(line)?.[0] ?? ""}# kept ${number++}`, line] : [line];
    });
    commented[path] = lines.join("\n");
    await writeFile(join(world.folder, path), lines.join("\n"));
  }
  return commented;
}
