// An item waits for what it requires, and what protects does not.
import { describe, expect, test } from "vitest";
import type { DraftItem } from "../../../src/core/base/model/plan.ts";
import { blockedSteps, readySteps, waitingSteps } from "../../support/steps.ts";
import { draft, planOf } from "./drafts.ts";

const resumes: DraftItem = draft("Integration/i", "update", {
  liveId: "8f1c",
  changes: [{ path: "/paused", before: true, after: false, risk: "exposes" }],
  requires: ["Schemas/i"],
});
const protects = draft("Schemas/i", "update", { after: ["Integration/i"], liveId: "8f1c" });
const waiting = { verb: "update", address: "Schemas/i", waitsFor: [], liveId: "8f1c", desired: {} } as const;
const stopped = { address: "Schemas/i", code: "E_CONFLICTING_CONFIGS", message: "Two." } as const;

describe("an item that requires another", () => {
  test("is planned after it, although its kind comes first", () => {
    const made = planOf({ items: [resumes, protects] });
    expect(readySteps(made).map(({ id, address, dependsOn }) => [id, address, dependsOn])).toEqual([
      ["s1", "Schemas/i", []],
      ["s2", "Integration/i", ["s1"]],
    ]);
  });

  test("does not hold back what protects: that needs the object, not its settings", () => {
    const renames = draft("Integration/i", "update", { liveId: "8f1c" });
    const binds = draft("Integration/i", "bind", { liveId: "8f1c" });
    const made = planOf({ items: [binds, renames, protects] });
    expect(readySteps(made).map(({ address, verb, dependsOn }) => [address, verb, dependsOn])).toEqual([
      ["Integration/i", "bind", []],
      ["Integration/i", "update", ["s1"]],
      ["Schemas/i", "update", ["s1"]],
    ]);
  });

  test("is sent at once if the other has nothing to do", () => {
    expect(readySteps(planOf({ items: [resumes] })).map(({ dependsOn }) => dependsOn)).toEqual([[]]);
  });

  test("waits as long as the other waits", () => {
    const made = planOf({ items: [resumes], waiting: [waiting] });
    expect(readySteps(made)).toEqual([]);
    expect(waitingSteps(made)).toContainEqual({
      ...{ verb: "update", address: "Integration/i", waitsFor: ["Schemas/i"], liveId: "8f1c", desired: { paused: false } },
    });
  });

  test.each([
    ["is blocked", planOf({ items: [resumes], blocked: [stopped] })],
    ["failed in an earlier round", planOf({ items: [resumes] }, { hasFailed: (address) => address === "Schemas/i" })],
  ])("is blocked if the other %s", (_, made) => {
    expect(readySteps(made)).toEqual([]);
    expect(blockedSteps(made)).toContainEqual(expect.objectContaining({ address: "Integration/i", code: "E_DEPENDENCY" }));
  });
});
