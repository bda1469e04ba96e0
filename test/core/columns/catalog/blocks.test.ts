// The catalog is as short as its columns allow, and does not depend on any order.
import { describe, expect, test } from "vitest";
import type { Tables } from "../../../../src/core/columns/catalog/blocks.ts";
import { catalogText, type ReviewedById, reviewedIn } from "../../../../src/core/columns/catalog/blocks.ts";
import { readCatalog } from "../../../../src/core/columns/catalog/file.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";

type Fleet = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const tablesOf = (tables: Readonly<Record<string, readonly string[]>>, schema = "public"): Tables =>
  new Map([[schema, new Map(Object.entries(tables).map(([table, columns]) => [table, new Set(columns)]))]]);

const reviewedOf = (fleet: Fleet): ReviewedById =>
  new Map(Object.entries(fleet).map(([id, tables]) => [id, { name: `shop ${id}`, tables: tablesOf(tables) }]));

const bodyOf = (reviewed: ReviewedById): string => catalogText(reviewed).replace(/^[\s\S]*?(?=reviewed:)/u, "");

function readBack(text: string): ReviewedById {
  const { catalog, problems } = readCatalog(text, { file: "c.yaml" });
  expect(problems).toEqual([]);
  return reviewedIn(catalog ?? []);
}

const shard = { users: ["id", "email"], orders: ["id"], items: ["id"], notes: ["id"] };

describe("the text", () => {
  test("equal shards share one block, with one line for each table", () => {
    const fleet = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`i-${index}`, shard]));
    expect(bodyOf(reviewedOf(fleet))).toBe(`reviewed:
  - integrations:
      i-0: shop i-0
      i-1: shop i-1
      i-2: shop i-2
      i-3: shop i-3
      i-4: shop i-4
    tables:
      public/items: [id]
      public/notes: [id]
      public/orders: [id]
      public/users: [email, id]
`);
  });

  test("a table that differs is written once, for the integration that differs", () => {
    const { notes: _, ...without } = shard;
    const fleet = { a: shard, b: { ...shard, users: ["id", "email", "phone"] }, c: shard, d: without };
    expect(bodyOf(reviewedOf(fleet))).toBe(`reviewed:
  - integrations: { a: shop a, b: shop b, c: shop c, d: shop d }
    tables:
      public/items: [id]
      public/notes: [id]
      public/orders: [id]
      public/users: [email, id]
  - integrations: { b: shop b }
    tables:
      public/users: [email, id, phone]
  - integrations: { d: shop d }
    tables:
      public/notes: []
`);
  });

  test("a table that differs is written once, also if integrations with more schemas have the other tables", () => {
    const crm = new Map([["crm", tablesOf(shard).get("public") ?? new Map<string, ReadonlySet<string>>()]]);
    const more = ["m-1", "m-2", "m-3"].map((id) => [id, { name: id, tables: new Map([...tablesOf(shard), ...crm]) }] as const);
    const others = reviewedOf({ a: shard, b: shard, c: { ...shard, users: ["id"] } });
    expect(bodyOf(new Map([...more, ...others]))).toMatch(
      /: \{ a: shop a, b: shop b, c: shop c \}\n[\s\S]*: \{ c: shop c \}\n {4}tables:\n {6}public\/users: \[id\]\n/u,
    );
  });

  test("blocks are ordered by their first integration", () => {
    const text = bodyOf(reviewedOf({ a: { items: ["sku"] }, b: shard, c: shard }));
    expect(text.match(/integrations: .*/gu)).toEqual(["integrations: { a: shop a }", "integrations: { b: shop b, c: shop c }"]);
  });

  test("an integration without tables has an entry, too", () => {
    const reviewed = new Map([["8f1c", { name: "Orders", tables: new Map() }]]);
    expect(bodyOf(reviewed)).toBe('reviewed:\n  - integrations: { "8f1c": Orders }\n    tables: {}\n');
    expect(readBack(catalogText(reviewed))).toEqual(reviewed);
    expect(readBack(catalogText(new Map()))).toEqual(new Map());
  });

  const name = fc.string({ minLength: 1, maxLength: 6, unit: anyCodePoint });
  const table = fc.tuple(name, name, fc.uniqueArray(name, { minLength: 1, maxLength: 4 }));
  const tables = fc.array(table, { maxLength: 4 }).map((all) => {
    const found = new Map<string, Map<string, ReadonlySet<string>>>();
    for (const [schema, one, columns] of all)
      found.set(schema, (found.get(schema) ?? new Map<string, ReadonlySet<string>>()).set(one, new Set(columns)));
    return found;
  });
  const reviewedById = fc
    .tuple(
      fc.array(tables, { minLength: 1, maxLength: 3 }),
      fc.uniqueArray(fc.tuple(name, name, fc.nat(), tables), { selector: ([id]) => id }),
    )
    .map(
      ([shapes, all]) =>
        new Map(
          all.map(([id, label, which, own]) => [
            id,
            {
              name: label,
              tables: which % 3 === 0 ? own : new Map([...(shapes[which % shapes.length] ?? []), ...(which % 3 === 1 ? [] : own)]),
            },
          ]),
        ),
    );

  test("does not depend on any order, and can be read again", () => {
    fc.assert(
      fc.property(reviewedById, (reviewed) => {
        const text = catalogText(reviewed);
        expect(catalogText(new Map([...reviewed].reverse()))).toBe(text);
        expect(readBack(text)).toEqual(reviewed);
      }),
      { numRuns: runs(60, 3_000) },
    );
  });

  test("never has more lines than tables, plus ten, plus three for each integration that is unlike the others", () => {
    const column = fc.constantFrom("id", "email", "phone", "note");
    const someTables = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), fc.uniqueArray(column, { minLength: 1 }), {
      noNullPrototype: true,
    });
    const fleets = fc.tuple(someTables, fc.nat(30), fc.array(someTables, { maxLength: 20 }), fc.boolean());
    fc.assert(
      fc.property(fleets, ([common, equal, others, isLike]) => {
        const like = Array.from({ length: equal }, (_, index) => [`s-${index}`, common] as const);
        const unlike = others.map((one, index) => [`o-${index}`, isLike ? { ...common, ...one } : one] as const);
        const reviewed = reviewedOf(Object.fromEntries([...like, ...unlike]));
        const count = [...reviewed.values()].reduce((sum, { tables: of }) => sum + (of.get("public")?.size ?? 0), 0);
        expect(catalogText(reviewed).trimEnd().split("\n").length).toBeLessThanOrEqual(count + 10 + 3 * unlike.length);
      }),
      { numRuns: runs(100, 3_000) },
    );
  });
});
