import { describe, expect, test } from "vitest";
import { type LazyLineage, type Lineage, lineageOf, readersIn } from "../../../src/core/impact/lineage.ts";
import { dbtManifest } from "../labels/dbt-manifest.ts";

interface Node {
  readonly sql?: string;
  readonly reads: readonly string[];
  readonly [member: string]: unknown;
}

const customers = "source.analytics.shop.customers";

/** A manifest with the source table shop.customers and these nodes by id, "model.a"; `reads` has ids too. */
function manifest(nodes: Readonly<Record<string, Node>>): Readonly<Record<string, unknown>> {
  const written = Object.entries(nodes).map(([id, { sql, reads, ...more }]) => {
    const [kind = "", name = ""] = id.split(".");
    const node = { name, resource_type: kind, original_file_path: `models/${name}.sql`, depends_on: { nodes: reads }, ...more };
    return [id, sql === undefined ? node : { ...node, raw_code: sql }] as const;
  });
  const ofKind = (isExposure: boolean) => Object.fromEntries(written.filter(([id]) => id.startsWith("exposure.") === isExposure));
  return { ...JSON.parse(dbtManifest({ customers: {} })), nodes: ofKind(false), exposures: ofKind(true) };
}

const made = (lineage: Lineage): LazyLineage => ({ tables: undefined, lineage: () => lineage });

/** The readers of a column of RAW_SHOP.customers as "model stg (mentions, via shop.customers)". */
function readers(nodes: Readonly<Record<string, Node>>, isGone = true): readonly string[] {
  const found = readersIn([made(lineageOf(manifest(nodes)))])({ schema: "raw_shop", table: "Customers", column: "EMAIL", isGone });
  return [
    ...(found?.readers ?? []).map(
      ({ kind, name, owner, via, certainty }) => `${kind} ${name} (${certainty}, via ${via})${owner === undefined ? "" : ` of ${owner}`}`,
    ),
    ...(found?.moreReaders === undefined ? [] : [`${found.moreReaders} more`]),
    ...(found?.tableReaders === undefined ? [] : [`${found.tableReaders} of the table`]),
  ];
}

const source = "{{ source('shop', 'customers') }}";
const stg = { sql: `select id, email as contact from ${source}`, reads: [customers] };

describe("readers of a column", () => {
  test.each<[string, Readonly<Record<string, Node>>, readonly string[]]>([
    ["nobody", {}, []],
    [
      "models, the nearest first, by the names that the column has there",
      {
        "model.fct": { sql: "select count(distinct contact) as n from {{ ref('dim') }}", reads: ["model.dim"] },
        "model.dim": { sql: "select * from {{ ref('stg') }}", reads: ["model.stg"] },
        "model.stg": stg,
        "model.other": { sql: "select email from {{ ref('stg') }}", reads: ["model.stg"] },
      },
      ["model stg (mentions, via shop.customers)", "model dim (mayRead, via stg)", "model fct (mentions, via dim)", "1 of the table"],
    ],
    [
      "models behind ephemeral ones, which compiled SQL has as CTEs",
      {
        "model.stg": stg,
        "model.eph": { sql: "select id, contact as mail from {{ ref('stg') }}", reads: ["model.stg"] },
        "model.dim": {
          compiled_code: `with __dbt__cte__stg as ( select id, (email) as contact from "db"."raw_shop"."customers" ), __dbt__cte__eph as (
            select id, contact as mail from __dbt__cte__stg ), eph as ( select * from __dbt__cte__eph ) select id, eph.mail from eph`,
          reads: ["model.eph"],
        },
        "model.ids": {
          compiled_code: 'with __dbt__cte__stg as (select id, email as contact from "customers") select id from __dbt__cte__stg',
          reads: ["model.stg"],
        },
      },
      ["model stg (mentions, via shop.customers)", "model eph (mentions, via stg)", "model dim (mentions, via eph)", "1 of the table"],
    ],
    [
      "models whose SQL is one macro call",
      {
        "model.first": { sql: `{{ config(materialized='table') }} {{ newest_row(source('shop', 'customers')) }}`, reads: [customers] },
        "model.second": { sql: `-- select email\n{{ with_hash(source('shop', 'customers'), 'email') }}`, reads: [customers] },
        "model.third": { sql: "select email from {{ ref('first') }}", reads: ["model.first"] },
      },
      ["model first (unknown, via shop.customers)", "model second (mentions, via shop.customers)", "model third (mentions, via first)"],
    ],
    [
      "a snapshot, a model without SQL and one in Python",
      {
        "snapshot.history": { sql: `select * from ${source}`, reads: [customers] },
        "model.unknown": { reads: [customers] },
        "model.python": { sql: "df = dbt.source('shop', 'customers')[['email']]", language: "python", reads: [customers] },
      },
      [
        "snapshot history (mayRead, via shop.customers)",
        "model unknown (unknown, via shop.customers)",
        "model python (mentions, via shop.customers)",
      ],
    ],
    [
      "tests on the column first, whatever its name is there",
      {
        "model.stg": stg,
        "test.not_null_contact": {
          reads: ["model.stg"],
          column_name: "contact",
          attached_node: "model.stg",
          test_metadata: { name: "not_null", kwargs: { column_name: "contact" } },
        },
        "test.not_null_id": { reads: ["model.stg"], column_name: "id", test_metadata: { name: "not_null", kwargs: {} } },
        "test.is_email": { reads: [customers], column_name: "email", test_metadata: { name: "is_email", namespace: "acme", kwargs: {} } },
        "test.orders_have_customers": {
          reads: ["model.orders", "model.stg"],
          column_name: "contact",
          attached_node: "model.orders",
          test_metadata: { name: "relationships", kwargs: { column_name: "contact", field: "id" } },
        },
      },
      [
        "test not_null_contact (certain, via stg)",
        "model stg (mentions, via shop.customers)",
        "test is_email (mentions, via shop.customers)",
      ],
    ],
    [
      "exposures with their owners, also through metrics",
      {
        "model.stg": stg,
        "metric.people": { reads: ["model.stg"] },
        "exposure.board": { reads: ["metric.people"], owner: { name: "Finance", email: "finance@example.com" } },
        "exposure.other": { reads: ["model.else"], owner: { name: "Other" } },
      },
      ["model stg (mentions, via shop.customers)", "exposure board (mayRead, via people) of finance@example.com"],
    ],
    [
      "nodes of a cycle once",
      {
        "model.a": { sql: `select * from ${source} join {{ ref('b') }}`, reads: [customers, "model.b"] },
        "model.b": { sql: "select * from {{ ref('a') }}", reads: ["model.a"] },
      },
      ["model a (mayRead, via shop.customers)", "model b (mayRead, via a)"],
    ],
    [
      "at most 100",
      Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`model.m${index}`, stg])),
      [...Array.from({ length: 100 }, (_, index) => `model m${index} (mentions, via shop.customers)`), "30 more"],
    ],
    [
      "not what a foreign manifest has instead of nodes",
      { "model.a": { reads: [customers], depends_on: [customers] }, "model.b": { reads: [], depends_on: { nodes: [7, null] } } },
      [],
    ],
  ])("%s", (_, nodes, expected) => expect(readers(nodes)).toEqual(expected));

  test("hashed values can fail tests of what they are, but not of whether they are there and different", () => {
    const testOf = (name: string): Node => ({ reads: [customers], column_name: "email", test_metadata: { name, kwargs: { field: "id" } } });
    const tests = ["not_null", "unique", "accepted_values", "relationships"].map((name) => [`test.${name}`, testOf(name)] as const);
    const certain = (isGone: boolean) =>
      readers(Object.fromEntries(tests), isGone).flatMap((one) => /^test (\w+) \(certain/u.exec(one)?.[1] ?? []);
    expect(certain(true)).toEqual(["not_null", "unique", "accepted_values", "relationships"]);
    expect(certain(false)).toEqual(["accepted_values", "relationships"]);
    expect(readers(Object.fromEntries(tests), false)).toHaveLength(4);
  });

  test("a table that no source describes has none", () => {
    expect(
      readersIn([made(lineageOf(manifest({ "model.stg": stg })))])({ schema: "raw_shop", table: "orders", column: "email", isGone: true }),
    ).toBeUndefined();
  });

  test("everything below a table reads the table", () => {
    const nodes = { "model.stg": { ...stg, sql: "select id from x" }, "model.dim": { sql: "", reads: ["model.stg"] } };
    const found = readersIn([made(lineageOf(manifest(nodes)))])({ schema: "raw_shop", table: "customers", isGone: true });
    expect(found?.readers.map(({ name, certainty }) => `${name} ${certainty}`)).toEqual(["stg mentions", "dim mayRead"]);
  });

  test("12,000 models in a row", () => {
    const chain = Array.from({ length: 12_000 }, (_, index): [string, Node] => [
      `model.m${index}`,
      index === 0 ? stg : { sql: `select * from {{ ref('m${index - 1}') }}`, reads: [`model.m${index - 1}`] },
    ]);
    expect(readers(Object.fromEntries(chain)).slice(99)).toEqual(["model m99 (mayRead, via m98)", "11900 more"]);
  });
});

test("a cycle is named without what depends on it", () => {
  const nodes = {
    "model.a": { sql: "", reads: [customers, "model.b"] },
    "model.b": { sql: "", reads: ["model.a"] },
    "model.c": { sql: "", reads: ["model.b"] },
  };
  expect([...lineageOf(manifest(nodes)).cycle].sort()).toEqual(["model.a", "model.b"]);
  expect(lineageOf(manifest({ "model.stg": stg })).cycle).toEqual([]);
  const long = Array.from({ length: 20_000 }, (_, index) => [
    `model.m${index}`,
    { sql: "", reads: [customers, `model.m${(index + 1) % 20_000}`] },
  ]);
  expect(lineageOf(manifest(Object.fromEntries(long))).cycle).toHaveLength(20_000);
});
