// A plan is in the order in which it is sent, and blocks what depends on what is blocked.
import { describe, expect, test } from "vitest";
import type { DraftItem } from "../../../src/core/base/model/plan.ts";
import { guard } from "../../support/findings.ts";
import { blockedSteps, byHandSteps, readySteps, type Waiting, waitingSteps } from "../../support/steps.ts";
import { draft, planOf } from "./drafts.ts";

const waiting = (address: string, ...waitsFor: string[]): Waiting => ({ verb: "update", address, waitsFor, desired: {} });

describe("a plan", () => {
  test("sorts items by kind, then by address, with an object's binding first", () => {
    const items = [
      draft("Tag/b#x", "relate"),
      draft("Tag/b", "update"),
      draft("Tag/b", "bind"),
      draft("Schemas/x", "update"),
      draft("Integration/a", "create"),
      draft("Asset/z", "create"),
    ];
    const made = readySteps(planOf({ items })).map(({ id, verb, address }) => `${id} ${verb} ${address}`);
    expect(made).toEqual([
      "s1 create Asset/z",
      "s2 create Integration/a",
      "s3 update Schemas/x",
      "s4 bind Tag/b",
      "s5 update Tag/b",
      "s6 relate Tag/b#x",
    ]);
    expect(readySteps(planOf({ items: [...items].reverse() })).map(({ id, verb, address }) => `${id} ${verb} ${address}`)).toEqual(made);
  });

  test("contains the dependencies of an item: its object's binding, and the items before it", () => {
    const items = [draft("Integration/a", "bind"), draft("Schemas/a", "update", { after: ["Integration/a"] }), draft("Tag/t", "update")];
    expect(readySteps(planOf({ items })).map(({ dependsOn }) => dependsOn)).toEqual([[], ["s1"], []]);
  });

  test("says once that nothing has a name", () => {
    const place = { file: "a.yaml", document: 0, pointer: "/spec/integration" };
    const problems = [
      { code: "W_REFERENCE_NOT_DECLARED", severity: "warning", message: "No manifest has it.", place },
      { code: "W_REFERENCE_NOT_DECLARED", severity: "warning", message: "No manifest has another.", place: { ...place, document: 1 } },
      { code: "E_UNKNOWN_REFERENCE", severity: "error", message: "Nothing has it.", place },
    ] as const;
    expect(planOf({}, { problems }).findings.map(({ message }) => message)).toEqual(["Nothing has it.", "No manifest has another."]);
  });

  test("sorts changes by path", () => {
    const changes = ["/b", "/a/c", "/a"].map((path) => ({ path, risk: "neutral" as const }));
    expect(
      readySteps(planOf({ items: [draft("Tag/t", "update", { changes })] }))[0]?.changes.map((entry) => "path" in entry && entry.path),
    ).toEqual(["/a", "/a/c", "/b"]);
  });

  test("counts the requests of items, but none of those that wait", () => {
    const requests: DraftItem["requests"] = [
      { method: "PATCH", path: "/x", body: {} },
      { method: "PATCH", path: "/x", body: {} },
    ];
    expect(planOf({ items: [draft("Schemas/x", "update", { requests })], waiting: [waiting("Tag/t#a", "Asset/a")] }).calls.planned).toEqual(
      {
        PATCH: 2,
      },
    );
  });

  test("counts items by what they do", () => {
    const items = (["create", "update", "update", "relate", "bind"] as const).map((verb, index) => draft(`Tag/t${index}`, verb));
    expect(planOf({ items }, { equal: 7 }).counts).toMatchObject({ create: 1, update: 2, relate: 1, bind: 1, equal: 7 });
  });

  test("leaves out everything outside the scope, in every list", () => {
    const other = { address: "Tag/other" };
    const made = planOf(
      {
        items: [draft("Tag/other", "update")],
        byHand: [{ ...other, path: "", instruction: "x" }],
        blocked: [{ ...other, code: "E_USAGE", message: "x" }],
        waiting: [waiting("Tag/other#x", "Asset/x")],
      },
      { inScope: (address) => !address.startsWith("Tag/other") },
    );
    expect(made).toMatchObject({ steps: [] });
  });

  test("gives a difference by hand the same id in every report", () => {
    const step = { address: "Integration/a", path: "/paused", instruction: "x" };
    const [first] = byHandSteps(planOf({ byHand: [{ ...step, actual: true }] }));
    expect(
      byHandSteps(
        planOf({
          byHand: [
            { ...step, actual: false },
            { ...step, path: "/name" },
          ],
        }),
      ).map(({ id }) => id),
    ).toContain(first?.id);
    expect(first?.id).toMatch(/^h-[0-9a-f]{8}$/);
  });

  test("is not executable if it has errors or a guard refuses, but a failed read does not stop it", () => {
    const executable = (more: Parameters<typeof planOf>[1]): boolean => planOf({}, more).executable;
    expect(executable({})).toBe(true);
    expect(executable({ complete: false })).toBe(true);
    expect(executable({ guards: () => ({ guards: [guard("maxCreates")], problems: [] }) })).toBe(false);
    expect(executable({ guards: () => ({ guards: [guard("maxCreates", { allowed: "because" })], problems: [] }) })).toBe(true);
    expect(executable({ problems: [{ code: "E_USAGE", severity: "error", message: "x" }] })).toBe(false);
    expect(executable({ problems: [{ code: "E_READ_FAILED", severity: "error", message: "x" }] })).toBe(true);
    expect(executable({ problems: [{ code: "W_NO_MATCH", severity: "warning", message: "x" }] })).toBe(true);
  });
});

describe("an item that must not be created", () => {
  test("is blocked, and so are items that wait for it, directly or indirectly", () => {
    const made = planOf(
      {
        items: [draft("Asset/a", "create"), draft("Asset/b", "update")],
        waiting: [waiting("Integration/i", "Asset/a"), waiting("Schemas/i", "Integration/i"), waiting("Tag/t#x", "Asset/x")],
      },
      { whyNotSend: ({ address }) => ({ address, code: "E_LIST_INCOMPLETE", message: "x" }) },
    );
    expect(readySteps(made).map(({ address }) => address)).toEqual(["Asset/b"]);
    expect(blockedSteps(made).map(({ address, code }) => `${address} ${code}`)).toEqual([
      "Asset/a E_LIST_INCOMPLETE",
      "Integration/i E_DEPENDENCY",
      "Schemas/i E_DEPENDENCY",
    ]);
    expect(waitingSteps(made).map(({ address }) => address)).toEqual(["Tag/t#x"]);
  });

  test("blocks two manifests that would create the same object, and nothing else", () => {
    const twin = (address: string, name: string) => draft(address, "create", { naturalKey: { name } });
    const made = planOf({ items: [twin("Asset/a", "x"), twin("Asset/b", "x"), twin("Asset/c", "y")] });
    expect(blockedSteps(made)).toMatchObject(["Asset/a", "Asset/b"].map((address) => ({ address, code: "E_SHARED_IDENTITY" })));
    expect([readySteps(made).map(({ address }) => address), made.executable]).toEqual([["Asset/c"], true]);
  });
});
