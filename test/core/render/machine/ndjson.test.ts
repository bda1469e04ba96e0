import { describe, expect, test } from "vitest";
import type { Document } from "../../../../src/core/render/document.ts";
import { progressLine, renderNdjson } from "../../../../src/core/render/machine/ndjson.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan } from "../full-plan.ts";
import { protectPlan } from "../held.ts";
import { fullResult } from "../results.ts";

type Event = Readonly<Record<string, unknown>>;
const events = (text: string): readonly Event[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);

const members: Readonly<Record<string, string>> = {
  item: "items",
  outcome: "items",
  manual: "manual",
  blocked: "blocked",
  deferred: "deferred",
  held: "held",
  unverifiable: "unverifiable",
  notKept: "notKept",
  policy: "policy",
  guard: "guards",
  diagnostic: "diagnostics",
};

const documents: Readonly<Record<string, Document>> = {
  "a plan": fullPlan,
  "a drift report": driftReport,
  "a plan with --protect-only": protectPlan,
  "a result": fullResult,
  "a validation": invalid,
};

describe.each(Object.entries(documents))("%s", (_, document) => {
  test("can be rebuilt from its events", () => {
    const all = events(renderNdjson(document));
    const rebuilt: Record<string, unknown> = { ...(all.at(-1)?.["document"] as object) };
    for (const member of Object.values(members)) if (member in document) rebuilt[member] = [];
    for (const one of all.slice(0, -1)) (rebuilt[members[String(one["event"])] ?? "?"] as unknown[]).push(one[String(one["event"])]);
    expect(rebuilt).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

test("progress is a separate line", () => {
  expect(events(progressLine({ type: "step", phase: "read", done: 3, total: 41, label: "a\nb" }, "2026-03-01T09:00:00.000Z"))).toEqual([
    {
      formatVersion: "2.0",
      event: "progress",
      at: "2026-03-01T09:00:00.000Z",
      step: "step",
      phase: "read",
      done: 3,
      total: 41,
      label: "a\nb",
    },
  ]);
});
