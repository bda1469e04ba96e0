// Accepting columns reviews what it names, and nothing else.
import { describe, expect, test } from "vitest";
import { type Acceptance, acceptColumns } from "../../../../src/core/columns/catalog/accept.ts";
import { type ReviewedById, reviewedIn } from "../../../../src/core/columns/catalog/blocks.ts";
import { readCatalog } from "../../../../src/core/columns/catalog/file.ts";

type Live = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Tables of the schema `public`, by id; each integration has its id as its name. */
const liveOf = (live: Live): ReviewedById =>
  new Map(
    Object.entries(live).map(([id, tables]) => [
      id,
      { name: id, tables: new Map([["public", new Map(Object.entries(tables).map(([table, columns]) => [table, new Set(columns)]))]]) },
    ]),
  );

const everything: Omit<Acceptance, "live"> = { selects: () => true, includes: () => true, keeps: () => false, names: new Map() };

const reviewedAfter = (text: string): ReviewedById =>
  reviewedIn(readCatalog(text, { file: "c.yaml" }).catalog ?? expect.fail("the text has problems"));

test("a path accepts only what it names", () => {
  const before = liveOf({ a: { users: ["id"] }, b: { users: ["id"] } });
  const live = liveOf({ a: { users: ["id", "email", "phone"] }, b: { users: ["id", "email"] } });
  const only = acceptColumns(before, { ...everything, live, selects: (id) => id === "a", includes: ([, , column]) => column === "email" });
  expect(only).toMatchObject({ accepted: 1, removed: 0 });
  expect(reviewedAfter(only.text)).toEqual(liveOf({ a: { users: ["id", "email"] }, b: { users: ["id"] } }));
});

describe("what nobody has reviewed", () => {
  const live = liveOf({ a: { users: ["id"] }, b: { users: ["id", "email"] } });

  test("the first accept writes the whole target", () => {
    const made = acceptColumns(new Map(), { ...everything, live, selects: (id) => id === "a" });
    expect(made).toMatchObject({ accepted: 3, added: ["a", "b"] });
    expect(reviewedAfter(made.text)).toEqual(live);
  });

  test("the first accept of an integration writes all of its columns, because the others would be new", () => {
    const before = liveOf({ a: { users: ["id"] } });
    const selects = (id: string) => id === "b";
    const made = acceptColumns(before, { ...everything, live, selects, includes: ([, , column]) => column === "email" });
    expect(made).toMatchObject({ accepted: 2, added: ["b"] });
    expect(reviewedAfter(made.text)).toEqual(live);
    expect(reviewedAfter(acceptColumns(before, { ...everything, live, selects: (id) => id === "a" }).text)).toEqual(before);
  });
});

describe("what is gone", () => {
  const before = liveOf({ a: { users: ["id", "fax"] }, b: { users: ["id"] } });
  const live = liveOf({ a: { users: ["id"] } });

  test("is removed only if it is selected", () => {
    const kept = acceptColumns(before, { ...everything, live, selects: () => false, keeps: () => true });
    expect(reviewedAfter(kept.text)).toEqual(before);
    const all = acceptColumns(before, { ...everything, live });
    expect(all).toMatchObject({ accepted: 0, removed: 2 });
    expect(reviewedAfter(all.text)).toEqual(live);
  });

  test("an integration that was not read, but that the account still has, keeps its entry", () => {
    const all = acceptColumns(before, { ...everything, live, keeps: (id) => id === "b" });
    expect([...reviewedAfter(all.text).keys()]).toEqual(["a", "b"]);
  });
});

test("names are those of the service now", () => {
  const before = liveOf({ a: { users: ["id"] }, b: { users: ["id"] } });
  const names = new Map([
    ["a", "Orders"],
    ["b", "b"],
  ]);
  const made = acceptColumns(before, { ...everything, live: liveOf({}), keeps: () => true, names });
  expect(made).toMatchObject({ accepted: 0, removed: 0, renamed: 1 });
  expect([...reviewedAfter(made.text)].map(([id, { name }]) => [id, name])).toEqual([...names]);
});
