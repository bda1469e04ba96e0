// A dbt manifest labels the columns of its sources, or is refused with the place.
import { describe, expect, test } from "vitest";
import type { DbtSource } from "../../../../src/core/base/model/manifest.ts";
import { readDbtLabels } from "../../../../src/core/columns/labels/dbt.ts";
import { type DbtTable, dbtManifest } from "./dbt-manifest.ts";

const place = { file: "personal.yaml", document: 0, pointer: "/spec/from/0" };
const read = (text: string, wanted: Omit<DbtSource, "manifest">) =>
  readDbtLabels({ text, file: "target/manifest.json", place }, { manifest: "target/manifest.json", ...wanted });
/** "raw_shop.customers.email pii ← models/sources.yml, …" */
function found(tables: Readonly<Record<string, DbtTable>>, wanted: Omit<DbtSource, "manifest">, version = 12): readonly string[] {
  const labels = read(dbtManifest(tables, version), wanted);
  if ("refusal" in labels) throw new Error(labels.refusal);
  return labels.columns.map(
    ({ schema, table, column, except, label, origin }) =>
      `${schema}.${table}.${column ?? "*"}${except === undefined ? "" : ` but ${except.join(", ")}`} ${label} ← ${origin.text}`,
  );
}

const pii = { label: "pii", where: { meta: { contains_pii: true } } };
const email = ["RAW_SHOP.customers.email pii ← models/sources.yml, source shop.customers.email, meta.contains_pii"];
const marked = { meta: { contains_pii: true } };

describe("a dbt source labels a column", () => {
  test.each<[string, Readonly<Record<string, DbtTable>>, Omit<DbtSource, "manifest">, readonly string[]]>([
    ["by its meta", { customers: { columns: { email: marked, id: {} } } }, pii, email],
    ["by its config.meta", { customers: { columns: { email: { config: marked } } } }, pii, email],
    ["not by another value", { customers: { columns: { email: { meta: { contains_pii: "yes" } } } } }, pii, []],
    [
      "by the meta of its table, listed or not",
      { customers: { ...marked, columns: { email: {} } } },
      pii,
      ["RAW_SHOP.customers.* pii ← models/sources.yml, source shop.customers, meta.contains_pii"],
    ],
    [
      "by the config.meta of its table",
      { customers: { config: marked, columns: { email: {} } } },
      pii,
      ["RAW_SHOP.customers.* pii ← models/sources.yml, source shop.customers, meta.contains_pii"],
    ],
    [
      "not if its own meta differs from that of its table",
      { customers: { ...marked, columns: { email: { meta: { contains_pii: false } } } } },
      pii,
      ["RAW_SHOP.customers.* but email pii ← models/sources.yml, source shop.customers, meta.contains_pii"],
    ],
    [
      "if config.meta is null",
      { customers: { config: { meta: null }, columns: { email: { ...marked, config: { meta: null } } } } },
      pii,
      email,
    ],
    [
      "by all members of meta together",
      { customers: { columns: { email: { meta: { a: 1, b: { c: [2] } } }, phone: { meta: { a: 1 } } } } },
      { label: "pii", where: { meta: { a: 1, b: { c: [2] } } } },
      ["RAW_SHOP.customers.email pii ← models/sources.yml, source shop.customers.email, meta.a, meta.b"],
    ],
    [
      "by its tag",
      { customers: { columns: { email: { tags: ["pii"] }, id: { tags: ["x"] } } } },
      { label: "personal", where: { tag: "pii" } },
      ["RAW_SHOP.customers.email personal ← models/sources.yml, source shop.customers.email, tag pii"],
    ],
    [
      "by the tag of its table, also as a single one in config",
      { customers: { config: { tags: "pii" }, columns: { id: {} } } },
      { label: "personal", where: { tag: "pii" } },
      ["RAW_SHOP.customers.* personal ← models/sources.yml, source shop.customers, tag pii"],
    ],
    [
      "with the value of a member of meta",
      { customers: { meta: { privacy: { class: "internal" } }, columns: { email: { meta: { privacy: { class: "secret" } } }, id: {} } } },
      { labelFrom: "meta.privacy.class" },
      [
        "RAW_SHOP.customers.* but email internal ← models/sources.yml, source shop.customers, meta.privacy.class",
        "RAW_SHOP.customers.email secret ← models/sources.yml, source shop.customers.email, meta.privacy.class",
      ],
    ],
    [
      "with each value of a list, and numbers as text",
      { customers: { columns: { email: { meta: { c: ["pii", "secret", "pii"] } }, id: { meta: { c: 3 } } } } },
      { labelFrom: "meta.c" },
      [
        "RAW_SHOP.customers.email pii ← models/sources.yml, source shop.customers.email, meta.c",
        "RAW_SHOP.customers.email secret ← models/sources.yml, source shop.customers.email, meta.c",
        "RAW_SHOP.customers.id 3 ← models/sources.yml, source shop.customers.id, meta.c",
      ],
    ],
    [
      "in the table that it names as identifier",
      { customers: { identifier: "CUSTOMERS_V2", columns: { email: marked } } },
      pii,
      ["RAW_SHOP.CUSTOMERS_V2.email pii ← models/sources.yml, source shop.customers.email, meta.contains_pii"],
    ],
    [
      "only of the database that the Classification names, whatever its case",
      { customers: { columns: { email: marked } }, orders: { database: "other", columns: { note: marked } } },
      { ...pii, database: "RAW" },
      email,
    ],
    ["by a meta that is text", { customers: { columns: { email: { meta: { contains_pii: "True" } } } } }, pii, email],
    [
      "by any value of a member of meta",
      { customers: { columns: { email: { meta: { masking: "hash" } }, id: {} } } },
      { label: "pii", where: { meta: { masking: { exists: true } } } },
      ["RAW_SHOP.customers.email pii ← models/sources.yml, source shop.customers.email, meta.masking"],
    ],
    [
      "by a glob for tags",
      { customers: { columns: { email: { tags: ["pii_null~user id"] }, id: { tags: ["x"] } } } },
      { label: "pii", where: { tag: "pii_null*" } },
      ["RAW_SHOP.customers.email pii ← models/sources.yml, source shop.customers.email, tag pii_null~user id"],
    ],
  ])("%s", (_, tables, wanted, expected) => {
    expect(found(tables, wanted)).toEqual(expected);
  });

  const tag = { label: "pii", where: { tag: "pii" } };
  test.each<[string, DbtTable, Omit<DbtSource, "manifest">, readonly string[]]>([
    ["another text", { meta: { contains_pii: "yes" } }, pii, ['has contains_pii: "yes"']],
    ["a number", { meta: { contains_pii: 1 } }, pii, ["has contains_pii: 1"]],
    ["a list", { meta: { contains_pii: ["true"] } }, pii, ['has contains_pii: ["true"]']],
    ["a map", { meta: { contains_pii: { value: true } } }, pii, ['has contains_pii: {"value":true}']],
    ["a member in another case", { meta: { Contains_PII: true } }, pii, ["has Contains_PII: true"]],
    ["a text in another case", { meta: { class: "PII " } }, { label: "pii", where: { meta: { class: "pii" } } }, ['has class: "PII "']],
    ["what says that it has none", { meta: { contains_pii: "no" } }, pii, []],
    ["another member", { meta: { pii_owner: "yes" } }, pii, []],
    ["a tag in another case", { tags: ["PII"] }, tag, ['has the tag "PII"']],
    ["longer tags", { tags: ["pii:address", "pii_name", "piiano"] }, tag, ['has the tag "pii:address"', 'has the tag "pii_name"']],
    ["a map instead of a label", { meta: { class: { a: 1 } } }, { labelFrom: "meta.class" }, ['has class: {"a":1}']],
  ])("not by what is nearly the mark, which is named: %s", (_what, marks, wanted, expected) => {
    for (const [node, table] of [
      ["shop.customers.phone", { columns: { phone: marks } }],
      ["shop.customers", marks],
    ] as const) {
      const labels = read(dbtManifest({ customers: table }), wanted);
      expect("refusal" in labels ? labels : [labels.columns, labels.nearly]).toEqual([[], expected.map((mark) => `${node} ${mark}`)]);
    }
  });

  test.each([10, 11, 12, 20])("in version %d of the manifest", (version) => {
    expect(found({ customers: { columns: { email: marked } } }, pii, version)).toEqual(email);
  });

  test("whatever its name is", () => {
    const names = Object.fromEntries(["__proto__", "constructor", "a.b", " x "].map((name) => [name, marked]));
    expect(found({ customers: { columns: JSON.parse(JSON.stringify(names)) } }, pii).map((one) => one.split(" pii")[0])).toEqual([
      "RAW_SHOP.customers.__proto__",
      "RAW_SHOP.customers.constructor",
      "RAW_SHOP.customers.a.b",
      "RAW_SHOP.customers. x ",
    ]);
  });
});

describe("a file is refused", () => {
  const whole = dbtManifest({ customers: { columns: { email: marked } } });
  test.each<[string, string, string]>([
    ["that is empty", " \n", "is empty"],
    ["that is truncated", whole.slice(0, -40), "is not complete JSON: dbt may have been interrupted while it wrote it"],
    ["that is something else", '{"name": "x"}', "is not a dbt manifest: it has no /metadata/dbt_schema_version"],
    ["that is a list", "[]", "is not a dbt manifest: it has no /metadata/dbt_schema_version"],
    ["whose version is not one of dbt", dbtManifest({}, "1.0"), 'is not a dbt manifest: /metadata/dbt_schema_version is "1.0"'],
    [
      "that is another file of dbt",
      dbtManifest({}, "https://schemas.getdbt.com/dbt/catalog/v1.json"),
      "is not a dbt manifest, but another file of dbt (catalog)",
    ],
    ["of an older version", dbtManifest({}, 9), "is a dbt manifest of version 9, but dimsync reads versions 10 to 12 and 20"],
    ["of a newer version", dbtManifest({}, 21), "is a dbt manifest of version 21, but dimsync reads versions 10 to 12 and 20"],
    ["without sources", whole.replace('"sources"', '"x"'), "is not a complete dbt manifest: it has no map /sources"],
    [
      "with a source that is a number",
      whole.replace(/"source\.analytics\.shop\.customers":\{/u, '"source.analytics.shop.x": 3, $&'),
      "has no table at /sources/source.analytics.shop.x: schema, name and columns are expected there",
    ],
  ])("%s", (_, text, refusal) => {
    expect(read(text, pii)).toEqual({ refusal });
  });
});
