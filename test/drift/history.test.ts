import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { appendHistory, fingerprintOf, historyEntry, historyFileName, readHistory, stepsDone } from "../../src/drift/history.ts";
import type { Plan } from "../../src/model/plan.ts";
import { driftReport } from "../render/full-plan.ts";
import { tracedReport } from "../render/html-report.ts";
import { change, item, plan } from "../render/plans.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dimsync-history-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const at = (day: number, members: Partial<Plan> = {}): Plan => ({ ...driftReport, createdAt: `2026-03-0${day}T09:00:00.000Z`, ...members });

test("each report is a file; reading sorts by time and leaves out other targets and other files", async () => {
  const nested = join(folder, "a", "b");
  for (const report of [at(3), at(1), at(2), at(1, { target: "../staging" })]) await appendHistory(nested, historyEntry(report));
  writeFileSync(join(nested, "notes.json"), "{}");
  expect(readdirSync(nested).sort()).toEqual([
    "drift-20260301T090000000Z-..%2Fstaging.json",
    "drift-20260301T090000000Z-prod.json",
    "drift-20260302T090000000Z-prod.json",
    "drift-20260303T090000000Z-prod.json",
    "notes.json",
  ]);
  const { entries, unread } = await readHistory(nested, "prod");
  expect(entries.map((entry) => entry.at)).toEqual([1, 2, 3].map((day) => at(day).createdAt));
  expect(unread).toEqual([]);
  expect((await readHistory(nested, "prod", 2)).entries.map((entry) => entry.at)).toEqual([2, 3].map((day) => at(day).createdAt));
  expect((await readHistory(nested, "../staging")).entries).toHaveLength(1);
});

test("an entry of the last version has the addresses of this one", async () => {
  const entry = historyEntry(at(1));
  const [step] = entry.manual;
  if (step === undefined) throw new Error("The report has no manual step.");
  const old = { ...entry, manual: [{ ...step, address: "SchemaConfig/shops@orders", path: "/schemas/public/primaryKey" }] };
  writeFileSync(join(folder, historyFileName(entry)), JSON.stringify(old));
  const { entries } = await readHistory(folder, "prod");
  const open = { ...step, id: "m-new", address: "Schemas/orders", path: "/schemas/public/primaryKey" };
  expect(stepsDone(entries[0], at(2, { manual: [open] }))).toEqual([]);
  expect(stepsDone(entries[0], at(2, { manual: [] })).map(({ address }) => address)).toEqual(["Schemas/orders"]);
});

test("a broken file is named, and a missing folder is empty", async () => {
  await appendHistory(folder, historyEntry(at(1)));
  const broken = [
    "{",
    "[]",
    "{}",
    JSON.stringify({ ...historyEntry(at(2)), counts: {} }),
    JSON.stringify({ ...historyEntry(at(2)), manual: [1] }),
    JSON.stringify(historyEntry(at(2))).replace("{", `{"x":${"[".repeat(300)}${"]".repeat(300)},`),
  ];
  for (const [index, text] of broken.entries()) writeFileSync(join(folder, `drift-2026030${index + 2}T090000000Z-prod.json`), text);
  const { entries, unread } = await readHistory(folder, "prod");
  expect(entries).toHaveLength(1);
  expect(unread).toHaveLength(broken.length);
  expect(await readHistory(join(folder, "absent"), "prod")).toEqual({ entries: [], unread: [] });
});

test("an entry has counts, and no values from the account", async () => {
  const secretive = at(1, {
    items: [item({ changes: [change({ path: "/description", before: "canary-1", after: "canary-2", origin: "drift" })] })],
  });
  const entry = historyEntry(secretive);
  const file = await appendHistory(folder, entry);
  expect(readFileSync(file, "utf8")).not.toMatch(/canary/u);
  expect(entry.counts).toEqual({ differences: 1, exposed: 4, manual: 2, blocked: 2, policy: 2, unmanaged: 3, unmanagedColumns: 612 });
  expect(historyEntry(tracedReport).origins).toEqual({ config: 1, drift: 4, conflict: 1, unknown: 2 });
  expect(historyFileName({ at: "2026-03-01T10:00:00+01:00", target: "a*b c" })).toBe("drift-20260301T090000000Z-a_b%20c.json");
});

describe("manual steps that were done", () => {
  const before = historyEntry(at(1));
  const [first] = driftReport.manual;
  test("are those of the earlier report that this one does not list", () => {
    expect(stepsDone(before, at(2, { manual: driftReport.manual.slice(0, 1) })).map(({ id }) => id)).toEqual(["m-b07c11"]);
    expect(stepsDone(before, at(2, { manual: [] }))[0]).toEqual({
      id: first?.id,
      address: first?.address,
      path: first?.path,
      instruction: first?.instruction,
    });
  });
  test("are none if nothing changed, there is no earlier report, or the report is incomplete", () => {
    expect(stepsDone(before, at(2))).toEqual([]);
    expect(stepsDone(undefined, at(2, { manual: [] }))).toEqual([]);
    expect(stepsDone(before, at(2, { manual: [], complete: false }))).toEqual([]);
    expect(stepsDone(before, at(2, { manual: [] }), (address) => address === "Integration/legacy").map(({ id }) => id)).toEqual([
      "m-b07c11",
    ]);
  });
});

describe("the fingerprint", () => {
  const print = fingerprintOf(driftReport);
  const same: Readonly<Record<string, Plan>> = {
    "when it was made": at(5, { planId: "other" }),
    "the user": { ...driftReport, manual: tracedReport.manual.map(({ origin: _, ...step }) => step) },
    "the order": { ...driftReport, items: [...driftReport.items].reverse(), manual: [...driftReport.manual].reverse() },
    "unmanaged columns": { ...driftReport, unmanaged: { ...driftReport.unmanaged, columns: 7 } },
    "ids to record": { ...driftReport, items: driftReport.items.filter(({ action }) => action !== "bind") },
  };
  test.each(Object.entries(same))("does not depend on %s", (_, other) => {
    expect(fingerprintOf(other)).toBe(print);
  });

  const other: Readonly<Record<string, Plan>> = {
    "a value": {
      ...driftReport,
      items: driftReport.items.map((each) => ({ ...each, changes: each.changes.map((one) => ({ ...one, before: "new" })) })),
    },
    "a step": { ...driftReport, manual: driftReport.manual.slice(1) },
    "a blocked object": { ...driftReport, blocked: [] },
    "an unmanaged object": { ...driftReport, unmanaged: { ...driftReport.unmanaged, tags: [] } },
    "a finding": { ...driftReport, policy: [] },
    "being complete": { ...driftReport, complete: false },
  };
  test.each(Object.entries(other))("changes with %s", (_, changed) => {
    expect(fingerprintOf(changed)).not.toBe(print);
  });

  test("differs if text moves from one member to another", () => {
    const make = (address: string, path: string) => fingerprintOf(plan({ items: [item({ address, changes: [change({ path })] })] }));
    expect(make("Tag/a", "/b")).not.toBe(make("Tag/a/b", ""));
  });
});
