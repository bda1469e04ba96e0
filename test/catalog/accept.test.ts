import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Acceptance, acceptColumns } from "../../src/catalog/accept.ts";
import { type Catalog, readCatalog } from "../../src/catalog/file.ts";
import { type Tables, tablesByIntegration } from "../../src/catalog/groups.ts";
import { runs } from "../support/sample.ts";

type Live = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Tables of the schema `public`, by integration. */
const liveOf = (live: Live): ReadonlyMap<string, Tables> =>
  new Map(
    Object.entries(live).map(([name, tables]) => [
      name,
      new Map([["public", new Map(Object.entries(tables).map(([table, columns]) => [table, new Set(columns)]))]]),
    ]),
  );

const everything: Omit<Acceptance, "live"> = { target: "prod", includes: () => true, keeps: () => false };

function catalogIn(text: string): Catalog {
  const { catalog, problems } = readCatalog(text, { file: "c.yaml", parser: undefined });
  expect(problems).toEqual([]);
  return catalog ?? new Map();
}

const accepted = (live: Live): Catalog => catalogIn(acceptColumns(new Map(), { ...everything, live: liveOf(live) }).text);
const bodyOf = (text: string): string => text.slice(text.indexOf("targets:"));

describe("the text", () => {
  test("equal shards share one group, with one line for each table", () => {
    const shard = { users: ["id", "email"], orders: ["id"] };
    const live = liveOf(Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`shop-${index}`, shard])));
    expect(bodyOf(acceptColumns(new Map(), { ...everything, live }).text)).toBe(`targets:
  prod:
    - integrations:
        - shop-0
        - shop-1
        - shop-2
        - shop-3
        - shop-4
        - shop-5
      schemas:
        public:
          orders: [id]
          users: [email, id]
`);
  });

  test("an integration with one column more adds a group", () => {
    const live = liveOf({ a: { users: ["id"] }, b: { users: ["id", "email"] }, c: { users: ["id"], "odd: name": ["true", "5", "a.b"] } });
    expect(bodyOf(acceptColumns(new Map(), { ...everything, live }).text)).toBe(`targets:
  prod:
    - integrations: [a, b, c]
      schemas:
        public:
          users: [id]
    - integrations: [b]
      schemas:
        public:
          users: [email]
    - integrations: [c]
      schemas:
        public:
          "odd: name": ["5", a.b, "true"]
`);
  });

  test("does not depend on the order of integrations, tables and columns, and can be read again", () => {
    const name = fc.string({ minLength: 1, unit: "binary" });
    const tables = fc.dictionary(name, fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    });
    const fleet = fc.uniqueArray(fc.tuple(name, tables), { selector: ([label]) => label, minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fleet, (some) => {
        const live = new Map(some.map(([label, one]) => [label, liveOf({ x: one }).get("x") ?? new Map()]));
        const backwards = new Map([...live].reverse());
        const { text } = acceptColumns(new Map(), { ...everything, live });
        expect(acceptColumns(new Map(), { ...everything, live: backwards }).text).toBe(text);
        expect(tablesByIntegration(catalogIn(text).get("prod") ?? [])).toEqual(live);
      }),
      { numRuns: runs(30, 2_000) },
    );
  });
});

describe("accepting", () => {
  test("a path accepts only what it names", () => {
    const before = accepted({ a: { users: ["id"] }, b: { users: ["id"] } });
    const live = liveOf({ a: { users: ["id", "email", "phone"] }, b: { users: ["id", "email"] } });
    const only = acceptColumns(before, { ...everything, live, includes: (name, [, , column]) => name === "a" && column === "email" });
    expect(only).toMatchObject({ accepted: 1, removed: 0 });
    expect(tablesByIntegration(catalogIn(only.text).get("prod") ?? [])).toEqual(
      liveOf({ a: { users: ["id", "email"] }, b: { users: ["id"] } }),
    );
  });

  test("removes what is gone, and only then", () => {
    const before = accepted({ a: { users: ["id", "fax"] }, b: { users: ["id"] } });
    const live = liveOf({ a: { users: ["id"] } });
    const kept = acceptColumns(before, { ...everything, live, includes: () => false, keeps: () => true });
    expect(tablesByIntegration(catalogIn(kept.text).get("prod") ?? [])).toEqual(
      liveOf({ a: { users: ["id", "fax"] }, b: { users: ["id"] } }),
    );
    const all = acceptColumns(before, { ...everything, live });
    expect(all).toMatchObject({ accepted: 0, removed: 2 });
    expect(tablesByIntegration(catalogIn(all.text).get("prod") ?? [])).toEqual(live);
  });

  test("keeps other targets", () => {
    const dev = accepted({ a: { users: ["id"] } }).get("prod") ?? [];
    const { text } = acceptColumns(new Map([["dev", dev]]), { ...everything, live: liveOf({ b: { users: ["email"] } }) });
    expect([...catalogIn(text).keys()]).toEqual(["dev", "prod"]);
  });
});
