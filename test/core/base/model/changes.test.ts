// The changes of an item are plain data, one entry for all that have the same facts.
import { describe, expect, test } from "vitest";
import { changeCount, eachChange, mergeEqual, newNodeChanges, withTraces } from "../../../../src/core/base/model/changes.ts";
import { type NodePath, nodePointer } from "../../../../src/core/base/model/nodes.ts";
import type { ChangeFacts, ChangeGroup, ReadyStep } from "../../../../src/core/base/model/plan.ts";
import { isPlain } from "../../../support/changes.ts";
import fc from "../../../support/fast-check.ts";
import { item } from "../../render/plans.ts";

const hostile = ["__proto__", "constructor", "toJSON", "", "a/b", "~", "1", "0", "é\u202e", "\ud800", "users"];
const name = fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 4 }));
const node = fc.oneof(fc.tuple(name), fc.tuple(name, name), fc.tuple(name, name, name)) as fc.Arbitrary<NodePath>;
const causes = [{ rule: "pii", file: "a.yaml", line: 1 }, { rule: "all", file: "a.yaml", line: 9 }, { file: "b.yaml" }];
const hashes: readonly ChangeFacts[] = causes.map((cause) => ({ before: false, after: true, risk: "protects", cause }));
const single = fc.record({ path: node, field: fc.constantFrom("enabled", "hashed"), facts: fc.constantFrom(...hashes) });
type Single = { readonly path: NodePath; readonly field: string; readonly facts: ChangeFacts };
const singles: fc.Arbitrary<readonly Single[]> = fc.uniqueArray(single, {
  selector: ({ path, field }) => nodePointer(path, field),
  maxLength: 40,
});

function itemOf(all: readonly Single[]): ReadyStep {
  const groups = newNodeChanges<ChangeFacts>();
  for (const { path, field, facts } of all) groups.add(path, field, facts);
  return item({ changes: groups.changes() });
}

const sorted = (changes: Iterable<{ readonly path: string }>) => [...changes].sort((a, b) => (a.path < b.path ? -1 : 1));
const expected = (all: readonly Single[]) =>
  sorted(all.map(({ path, field, facts }) => ({ path: nodePointer(path, field), field, ...facts })));

describe("the changes of an item", () => {
  test("are plain data: the JSON of them is the same value, and a copy has everything", () => {
    fc.assert(
      fc.property(singles, (all) => {
        const made = itemOf(all);
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
        expect(isPlain(made)).toBe(true);
        const copy = { ...made, changes: made.changes.map((entry) => ({ ...entry })) };
        expect(sorted(eachChange(copy))).toEqual(expected(all));
      }),
    );
  });

  test("are those that were collected, one by one, also after they were printed and parsed", () => {
    fc.assert(
      fc.property(singles, (all) => {
        const made = itemOf(all);
        expect(sorted(eachChange(made))).toEqual(expected(all));
        expect(sorted(eachChange(JSON.parse(JSON.stringify(made)) as ReadyStep))).toEqual(expected(all));
        expect(changeCount(made)).toBe(all.length);
      }),
    );
  });

  test("are grouped: no two entries of a level have the same facts", () => {
    fc.assert(
      fc.property(singles, (all) => {
        const entries = itemOf(all.map((one) => ({ ...one, facts: { ...one.facts } }))).changes;
        const merged = mergeEqual(entries);
        expect(merged).toEqual(mergeEqual(merged));
        expect(sorted(eachChange({ changes: merged }))).toEqual(expected(all));
        const kinds = new Set(all.map(({ path, field, facts }) => JSON.stringify([path.length, field, facts])));
        expect(merged).toHaveLength(kinds.size);
      }),
    );
  });

  test("have one entry for three columns and for 200,000", () => {
    const entryOf = (count: number): ChangeGroup | undefined =>
      itemOf(
        Array.from({ length: count }, (_, i): Single => ({ path: ["s", "t", `c${i}`], field: "hashed", facts: hashes[0] as ChangeFacts })),
      ).changes[0];
    const { nodes: few, count: three, ...facts } = entryOf(3) as Extract<ChangeGroup, { nodes: unknown }>;
    const { nodes: many, count: all, ...same } = entryOf(200_000) as Extract<ChangeGroup, { nodes: unknown }>;
    expect([few, three, facts]).toEqual([{ s: { t: ["c0", "c1", "c2"] } }, 3, { field: "hashed", ...hashes[0] }]);
    expect([Object.keys(many), all, same]).toEqual([["s"], 200_000, facts]);
  });
});

describe("nodes are nested as deep as what changes", () => {
  test.each([
    [
      "columns",
      [
        ["s", "t", "a"],
        ["s", "t", "b"],
        ["s", "u", "a"],
      ],
      { s: { t: ["a", "b"], u: ["a"] } },
    ],
    [
      "tables",
      [
        ["s", "t"],
        ["s", "u"],
        ["r", "t"],
      ],
      { s: ["t", "u"], r: ["t"] },
    ],
    ["schemas", [["s"], ["r"]], ["s", "r"]],
  ] as const)("%s", (_, paths, nodes) => {
    const all = paths.map((path): Single => ({ path, field: "enabled", facts: hashes[0] as ChangeFacts }));
    expect(itemOf(all).changes).toEqual([{ field: "enabled", ...hashes[0], count: paths.length, nodes }]);
  });
});

test("an entry is split where its changes have different origins, and only there", () => {
  const all = ["a", "b", "c"].map((column): Single => ({ path: ["s", "t", column], field: "hashed", facts: hashes[0] as ChangeFacts }));
  const { changes } = itemOf(all);
  const traced = withTraces([...changes, { path: "/name", risk: "neutral" }], ({ path }) => ({
    origin: path.endsWith("/b/hashed") ? "config" : "drift",
  }));
  expect(traced).toEqual([
    { field: "hashed", ...hashes[0], count: 2, nodes: { s: { t: ["a", "c"] } }, origin: "drift" },
    { field: "hashed", ...hashes[0], count: 1, nodes: { s: { t: ["b"] } }, origin: "config" },
    { path: "/name", risk: "neutral", origin: "drift" },
  ]);
});

test("the field of a change that is not in a schema is the end of its path", () => {
  expect([...eachChange({ changes: [{ path: "/connection/a~1b", risk: "neutral" }] })]).toEqual([
    { path: "/connection/a~1b", field: "a/b", risk: "neutral" },
  ]);
});
