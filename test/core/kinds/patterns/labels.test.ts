// A column has the labels of every source that names it, and a rule takes the first one.
import { describe, expect, test } from "vitest";
import type { ColumnLabels, LabelledColumn, LabelPatterns } from "../../../../src/core/base/model/columns.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import { labelAmong, labelRoots, labelsOf, wantedLabels } from "../../../../src/core/kinds/patterns/labels.ts";
import { column, schema, table } from "../schema-config/fleet.ts";

const origin = (text: string) => ({ text, place: { file: "c.yaml", document: 0, pointer: "" }, isInManifest: false });
const patterns = (label: string, match: LabelPatterns["match"]): LabelPatterns => ({ label, match, origin: origin("patterns") });
const inDestination = (label: string, names: string): LabelledColumn => labelled("destination", label, names);
const inSource = (label: string, names: string, integration?: string): LabelledColumn => ({
  ...labelled("source", label, names),
  ...(integration === undefined ? {} : { integration }),
});
function labelled(side: LabelledColumn["side"], label: string, names: string): LabelledColumn {
  const [schemaName = "", tableName = "", columnName = ""] = names.split(".");
  return { side, label, schema: schemaName, table: tableName, column: columnName, origin: origin(names), describedBy: "file" };
}
const labels = (more: Partial<ColumnLabels>): ColumnLabels => ({ defined: [], patterns: [], columns: [], ...more });

/** public.customers (RAW_SHOP.CUSTOMERS in the destination): email (EMAIL_ADDRESS), phone (PHONE), Name (no name there). */
const live: LiveSchemas = {
  public: schema(
    {
      customers: table(
        {
          email: column({ nameInDestination: "EMAIL_ADDRESS" }),
          phone: column({ nameInDestination: "PHONE" }),
          Name: { enabled: true, hashed: false },
        },
        { nameInDestination: "CUSTOMERS" },
      ),
    },
    { nameInDestination: "RAW_SHOP" },
  ),
};

const found = (given: Partial<ColumnLabels>, columnName: string, names: readonly string[] = ["shop-01"]): readonly string[] =>
  labelsOf(labelRoots(labels(given))({ names }), live, ["public", "customers", columnName]).map(({ label }) => label);

describe("a column has a label", () => {
  test.each<[string, Partial<ColumnLabels>, string, readonly string[]]>([
    ["by a pattern for its name", { patterns: [patterns("pii", { column: "*mail*" })] }, "email", ["pii"]],
    ["not by a pattern in another case", { patterns: [patterns("pii", { column: "NAME" })] }, "Name", []],
    ["by a pattern whose case is ignored", { patterns: [patterns("pii", { column: "NAME", ignoreCase: true })] }, "Name", ["pii"]],
    ["by a pattern for its table", { patterns: [patterns("pii", { table: "cust*" })] }, "phone", ["pii"]],
    ["not by a pattern for another schema", { patterns: [patterns("pii", { schema: "sales", column: "*" })] }, "phone", []],
    [
      "by its names in the destination, whatever their case",
      { columns: [inDestination("pii", "raw_shop.customers.email_address")] },
      "email",
      ["pii"],
    ],
    [
      "not by its names in the source, if the file describes the destination",
      { columns: [inDestination("pii", "public.customers.email")] },
      "email",
      [],
    ],
    [
      "by its name in the source, if the service returns none for the destination",
      { columns: [inDestination("pii", "raw_shop.customers.name")] },
      "Name",
      ["pii"],
    ],
    ["by its names in the source", { columns: [inSource("pii", "public.customers.email")] }, "email", ["pii"]],
    ["not by names in the source in another case", { columns: [inSource("pii", "public.customers.EMAIL")] }, "email", []],
    ["in integrations that a glob matches", { columns: [inSource("pii", "public.customers.email", "shop-*")] }, "email", ["pii"]],
    ["not in other integrations", { columns: [inSource("pii", "public.customers.email", "billing")] }, "email", []],
    [
      "or several, those of files first",
      { patterns: [patterns("contact", { column: "email" })], columns: [inSource("pii", "public.customers.email")] },
      "email",
      ["pii", "contact"],
    ],
  ])("%s", (_, given, columnName, expected) => {
    expect(found(given, columnName)).toEqual(expected);
  });
});

test("a schema without a name in the destination has the destination schema of the integration", () => {
  const { nameInDestination: _, ...rest } = live["public"] ?? { enabled: true, tables: {} };
  const given = labels({ columns: [inDestination("pii", "raw.customers.phone")] });
  const at = (destinationSchema?: string) =>
    labelsOf(labelRoots(given)({ names: ["shop-01"], destinationSchema }), { public: rest }, ["public", "customers", "phone"]).length;
  expect([at("RAW"), at("other"), at()]).toEqual([1, 0, 0]);
});

test("integrations with the same possible labels share their scopes", () => {
  const roots = labelRoots(labels({ columns: [inSource("pii", "a.b.c", "shop-*")] }));
  expect(roots({ names: ["shop-01"] })).toBe(roots({ names: ["shop-02"] }));
  expect(roots({ names: ["shop-01"] })).not.toBe(roots({ names: ["billing"] }));
});

test("a column without a live table has the labels of its names", () => {
  const root = labelRoots(labels({ patterns: [patterns("pii", { column: "email" })] }))({ names: [] });
  expect(labelsOf(root, {}, ["a", "b", "email"]).map(({ label }) => label)).toEqual(["pii"]);
});

test("a rule takes the first of its labels that the column has", () => {
  const root = labelRoots(labels({ patterns: [patterns("a", { column: "x" }), patterns("b", { column: "x" })] }))({ names: [] });
  const all = labelsOf(root, {}, ["s", "t", "x"]);
  expect([["b"], ["b", "a"], ["c"]].map((wanted) => labelAmong(all, wanted)?.label)).toEqual(["b", "a", undefined]);
  expect([wantedLabels("a"), wantedLabels(["a", "b"]), wantedLabels(undefined)]).toEqual([["a"], ["a", "b"], undefined]);
});
