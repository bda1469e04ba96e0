import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/model/json/json.ts";
import { isLazy } from "../../src/model/json/lazy.ts";
import { newIntern, packLeaves } from "../../src/model/json/packed-leaves.ts";
import { canonicalPieces, jsonPieces } from "../../src/model/json/pieces.ts";
import {
  addChanges,
  addObserved,
  bodyOf,
  changeCount,
  changesOf,
  countChanges,
  firstChanges,
  packedChanges,
  packItem,
  sampleOf,
  withBodyText,
  withChangesOf,
  withMappedChanges,
} from "../../src/model/packed-item.ts";
import type { Change, Item, Observed, Plan } from "../../src/model/plan.ts";
import { renderers } from "../../src/render/index.ts";
import { fleetPlan } from "../render/fleet-plan.ts";
import { fullPlan } from "../render/full-plan.ts";

const changeAt = (path: string): Change => ({ path, before: false, after: true, risk: "protects" });

/** The plan with the changes of every item packed. */
const packed = (plan: Plan): Plan => ({
  ...plan,
  items: plan.items.map(({ changes, ...item }) => addChanges(item, changesOf({ changes }))),
});

/** The same with plain lists. */
const parsed = (plan: Plan): Plan => JSON.parse(JSON.stringify(packed(plan))) as Plan;

const plans: Readonly<Record<string, Plan>> = {
  "a plan": fullPlan,
  "a plan for many integrations": fleetPlan(),
  "a drift report": fleetPlan("DriftReport"),
};

describe("a packed plan is printed like a plain one", () => {
  describe.each(Object.entries(plans))("%s", (_sentence, plan) => {
    test.each(Object.entries(renderers))("%s", (_format, render) => {
      for (const verbose of [false, true]) {
        const options = { color: false, verbose };
        expect(render(packed(plan), options)).toBe(render(parsed(plan), options));
      }
    });

    test("with the same digest", () => {
      expect([...canonicalPieces(packed(plan))].join("")).toBe([...canonicalPieces(plan)].join(""));
    });
  });
});

test("observed values are printed like plain ones, in the order of the item and sorted", () => {
  const observed: Observed = {
    "/schemas/public/enabled": true,
    "/schemas/public/tables/users/enabled": true,
    "/schemas/public/tables/users/columns/id/enabled": true,
    "/schemas/public/tables/users/columns/id/hashed": false,
    "/schemas/public/tables/users/columns/id x/hashed": false,
    "/schemas/public/tables/a/enabled": false,
  };
  const item = addObserved({ id: "i1" }, packLeaves(Object.entries(observed), newIntern()));
  const given = [...jsonPieces({ items: [item] }, { inOrder: (keys) => keys, order: "given", space: "  " })].join("");
  expect(given).toBe(JSON.stringify({ items: [{ id: "i1", observed }] }, undefined, 2));
  expect([...canonicalPieces({ items: [item] })].join("")).toBe(canonicalJson({ items: [{ id: "i1", observed }] }));
  expect(item.observed).toEqual(observed);
});

test.each<readonly [string, readonly Change[]]>([
  ["none", []],
  [
    "of any name",
    ["a~1b", 'quo"te', "\\", "\u0000", "\ud83d\ude00", "\ud800", "", "\u202e"].map((name) => changeAt(`/schemas/${name}/enabled`)),
  ],
  ["below parents of any name", ['"', "\u2028", "ü"].map((name) => changeAt(`/schemas/${name}/tables/t/enabled`))],
  [
    "with values that look like pointers",
    ["/a", "/b", "/a"].map((path) => ({ ...changeAt(path), after: path, cause: { file: path, rule: '"path": "a"' } })),
  ],
  ["at the root", [changeAt(""), changeAt("/name")]],
  [
    "more than fit in a piece",
    Array.from({ length: 2_000 }, (_, i) => changeAt(`/schemas/s/tables/t/columns/c${i}/${i % 3 === 0 ? "enabled" : "hashed"}`)),
  ],
])("changes are printed like plain ones: %s", (_sentence, changes) => {
  const plan = (item: object): Plan => ({ ...fullPlan, items: [item as Item] });
  const one = plan({ id: "i1", changes });
  const other = plan(addChanges({ id: "i1" }, changesOf({ changes })));
  expect([...canonicalPieces(other)].join("")).toBe(canonicalJson(one));
  expect(renderers.json(other, { color: false, verbose: false })).toBe(renderers.json(one, { color: false, verbose: false }));
});

describe("the changes of an item", () => {
  const [plain] = fleetPlan().items.filter(({ changes }) => changes.length > 2);
  if (plain === undefined) throw new Error("The plan has no such item.");
  const { changes, ...rest } = plain;
  const item = addChanges(rest, changesOf({ changes }));

  test("are the same, packed or not", () => {
    expect(packedChanges(plain)).toBeUndefined();
    expect(packedChanges(item)).toBeDefined();
    expect(item.changes).toEqual(changes);
    for (const one of [plain, item]) {
      expect(changeCount(one)).toBe(changes.length);
      expect(countChanges(one, ({ risk }) => risk === "protects")).toBe(changes.filter(({ risk }) => risk === "protects").length);
      expect(firstChanges(one, 2)).toEqual(changes.slice(0, 2));
    }
  });

  test("stay packed with other values", () => {
    const marked = (change: Change): Change => ({ ...change, origin: change.path.includes("staging") ? "config" : "drift" });
    const [one, other] = [withMappedChanges(plain, marked), withMappedChanges(item, marked)];
    expect(other.changes).toEqual(one.changes);
    expect(packedChanges(other)?.kinds.length).toBeLessThan(changes.length / 2);
    expect(packedChanges(one)).toBeUndefined();
  });

  test("stay packed in another object", () => {
    const result = withChangesOf(item, { id: "i1" });
    expect(packedChanges(result)).toBe(packedChanges(item));
    expect(result).toEqual({ id: "i1", changes });
    expect(withChangesOf(plain, { id: "i1" })).toEqual({ id: "i1", changes });
  });
});

test("a body that is kept as text is the same for every reader", () => {
  const request = withBodyText({ method: "PATCH", path: "/v1/x" }, '{"__proto__":{"a":1}}');
  expect(JSON.stringify(request)).toBe('{"method":"PATCH","path":"/v1/x","body":{"__proto__":{"a":1}}}');
  expect(bodyOf(request)).not.toBe(bodyOf(request));
  expect(request.body).toEqual(bodyOf(request));
});

describe("an item that was read", () => {
  const changes = Array.from({ length: 40 }, (_, i) => ({ path: `/schemas/s/tables/t/columns/c${i}/hashed`, before: false, after: true }));
  const read = { id: "i1", changes, observed: { "/schemas/s/enabled": true }, requests: [{ method: "PATCH", path: "/x", body: { a: 1 } }] };

  test("is packed, and is the same", () => {
    const item = packItem(read, newIntern());
    expect(JSON.parse(JSON.stringify(item))).toEqual(read);
    expect(isLazy(item as object)).toBe(true);
  });

  test("has a sample with one change of each kind and no long bodies", () => {
    const observed = { "/schemas/s/enabled": true, "/schemas/s/tables/t/enabled": true, "/schemas/s/tables/u/enabled": "no" };
    const other = { path: "/schemas/s/enabled", after: false, cause: { file: 5 } };
    const item = packItem({ ...read, observed, changes: [...changes, other] }, newIntern());
    expect(sampleOf(item as object)).toEqual({
      id: "i1",
      requests: [{ method: "PATCH", path: "/x", body: {} }],
      changes: [
        { path: "/hashed", before: false, after: true },
        { ...other, path: "/enabled" },
      ],
      observed: { "/0/enabled": true, "/1/enabled": "no" },
    });
  });

  test.each<readonly [string, unknown]>([
    ["no item", 5],
    ["few changes", { ...read, changes: changes.slice(1, 5) }],
    ["no changes", { id: "i1" }],
    ["a change without a path", { ...read, changes: [...changes, { after: 1 }] }],
    ["a change whose path the JSON Schema refuses", { ...read, changes: [...changes, { path: "/a\nb", after: 1 }] }],
    ["observed values without a pointer", { ...read, observed: { __proto__: null, constructor: 1 } }],
  ])("is returned as it is: %s", (_sentence, item) => {
    expect(packItem(item, newIntern())).toBe(item);
  });

  test("keeps members of the wrong type, which a check refuses later", () => {
    const wrong = { ...read, observed: 5, requests: [null, { body: 1 }] };
    expect(JSON.parse(JSON.stringify(packItem(wrong, newIntern())))).toEqual(wrong);
    expect(sampleOf(packItem(wrong, newIntern()) as object)).toMatchObject({ observed: 5, requests: [null, { body: 1 }] });
  });
});
