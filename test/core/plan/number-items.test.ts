// Each item has the id of its place, and numbering is linear work.
import { expect, test } from "vitest";
import type { DraftItem } from "../../../src/core/base/model/plan.ts";
import type { SourceLocation } from "../../../src/core/base/model/problem.ts";
import { numbered } from "../../../src/core/plan/number-items.ts";

/** Counts how often an address is read: by every comparison and every search. */
interface Counter {
  reads: number;
}

const place: SourceLocation = { file: "a.yaml", document: 0, pointer: "/spec" };
const shared = { rule: "all", place };

function draft(address: string, verb: DraftItem["verb"], counter: Counter): DraftItem {
  const item: DraftItem = {
    address,
    kind: "Tag",
    verb,
    standing: "ready",
    changes: [{ path: "/x", after: 1, risk: "neutral", cause: shared }],
    requests: [],
  };
  return Object.defineProperty(item, "address", {
    enumerable: true,
    get: () => {
      counter.reads += 1;
      return address;
    },
  });
}

/** Tags with 10 relations each, in reverse order. */
function drafts(tags: number, counter: Counter): readonly DraftItem[] {
  const all = Array.from({ length: tags }, (_, tag) => [
    draft(`Tag/t${tag}`, "bind", counter),
    ...Array.from({ length: 10 }, (_unused, resource) => draft(`Tag/t${tag}#r${resource}`, "relate", counter)),
  ]);
  return all.flat().reverse();
}

test("the work grows with the number of items, not with its square", () => {
  const readsFor = (tags: number): number => {
    const counter = { reads: 0 };
    numbered(drafts(tags, counter), { kind: "Plan", locate: ({ file }) => ({ file }) });
    return counter.reads;
  };
  // Sorting adds a little to 16 times the reads; a search per item would make it 256 times.
  expect(readsFor(160) / readsFor(10)).toBeLessThan(32);
});

test("an object is bound before its relations, and each item has the id of its place", () => {
  const items = numbered(drafts(2, { reads: 0 }), { kind: "Plan", locate: ({ file }) => ({ file }) });
  expect(items.map(({ id }) => id)).toEqual(items.map((_, index) => `s${index + 1}`));
  expect(items[0]).toMatchObject({ address: "Tag/t0", verb: "bind", dependsOn: [] });
  expect(items.slice(1, 11).map(({ dependsOn }) => dependsOn)).toEqual(Array.from({ length: 10 }, () => ["s1"]));
  expect(items[12]).toMatchObject({ address: "Tag/t1#r0", dependsOn: ["s12"] });
});

test("the line of a cause that many changes share is looked up once", () => {
  let lookups = 0;
  const locate = ({ file }: SourceLocation) => {
    lookups += 1;
    return { file, line: 7 };
  };
  const items = numbered(drafts(5, { reads: 0 }), { kind: "Plan", locate });
  expect(lookups).toBe(1);
  expect(items.every(({ changes }) => changes[0]?.cause?.line === 7)).toBe(true);
});

test("changes that items share stay one object", () => {
  const { changes } = draft("Tag/t0", "update", { reads: 0 });
  const sharing = drafts(5, { reads: 0 }).map((one) => ({ ...one, changes }));
  const items = numbered(sharing, { kind: "DriftReport", locate: ({ file }) => ({ file }) });
  expect(new Set(items.map((item) => item.changes)).size).toBe(1);
});
