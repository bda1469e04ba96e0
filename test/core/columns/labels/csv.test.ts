// A CSV file labels the columns that it names, or is refused with the line.
import { describe, expect, test } from "vitest";
import { readCsvLabels } from "../../../../src/core/columns/labels/csv.ts";

const read = (...lines: readonly string[]) => readCsvLabels(lines.join("\n"), "register.csv");

describe("a CSV file labels columns", () => {
  test.each<[string, readonly string[]]>([
    ["separated by semicolons", ["schema;table;column;label", "public;customers;email;pii"]],
    ["separated by tabs", ["schema\ttable\tcolumn\tlabel", "public\tcustomers\temail\tpii"]],
    ["whose first line names the separator", ["sep=;", "schema;table;column;label", "public;customers;email;pii"]],
    ["whose header ends with a separator", ["schema,table,column,label,", "public,customers,email,pii,"]],
    ["whose header alone ends with separators", ["schema,table,column,label,,", "public,customers,email,pii"]],
  ])("%s", (_what, lines) => {
    const { columns, problems } = read(...lines);
    expect(problems).toEqual([]);
    expect(columns.map(({ schema, table, column, label }) => [schema, table, column, label])).toEqual([
      ["public", "customers", "email", "pii"],
    ]);
  });

  test.each([
    ['"pii;gdpr"', undefined, ["pii", "gdpr"]],
    ['"pii, gdpr"', undefined, ["pii", "gdpr"]],
    ["pii|gdpr | pii", undefined, ["pii", "gdpr"]],
    ["pii/gdpr;x", { separator: "/" }, ["pii", "gdpr;x"]],
  ])("several in one cell: %s", (cell, mapped, labels) => {
    const { columns, problems } = readCsvLabels(`schema,table,column,label\npublic,customers,email,${cell}`, "register.csv", mapped);
    expect([problems, columns.map(({ label }) => label)]).toEqual([[], labels]);
  });

  test("whose columns have other names, beside others", () => {
    const mapped = { column: "Column Name", label: "classification" };
    const text = "Schema,Table,Column Name,Data Type,Classification,Owner\npublic,customers,email,varchar,pii,team";
    const { columns, problems } = readCsvLabels(text, "register.csv", mapped);
    expect([problems, columns.map(({ schema, table, column, label }) => [schema, table, column, label])]).toEqual([
      [],
      [["public", "customers", "email", "pii"]],
    ]);
    expect(readCsvLabels(text, "register.csv", { column: "Field" }).problems.map(({ message }) => message)).toEqual([
      "register.csv has no column Field, label. Correct `columns` of the entry.",
    ]);
    expect(readCsvLabels(text, "register.csv").problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /: "column name", "data type", "classification", "owner"\. .*columns: \{ column: "column name", label: "classification" \}\.$/u,
      ),
    ]);
  });

  test("but not with conflict markers of git", () => {
    const { problems } = read("schema,table,column,label", "<<<<<<< HEAD", "public,customers,email,pii", "=======", ">>>>>>> x");
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["E_LABEL_CSV", expect.stringContaining("conflict markers of git")],
    ]);
  });

  test("by their names in the source, in the integrations that a glob matches", () => {
    const { columns, problems } = read(
      "integration,schema,table,column,label,reason",
      "shop-*,public,customers,email,pii,DPIA-41",
      ',"public","Sales, 2026","say ""hi""",pii,',
    );
    expect(problems).toEqual([]);
    expect(
      columns.map(({ integration, schema, table, column, label, side, origin }) => ({
        integration,
        path: [schema, table, column],
        label,
        side,
        text: origin.text,
        reason: origin.reason,
      })),
    ).toEqual([
      {
        integration: "shop-*",
        path: ["public", "customers", "email"],
        label: "pii",
        side: "source",
        text: "register.csv:2",
        reason: "DPIA-41",
      },
      {
        integration: undefined,
        path: ["public", "Sales, 2026", 'say "hi"'],
        label: "pii",
        side: "source",
        text: "register.csv:3",
        reason: undefined,
      },
    ]);
  });

  test("with the columns in any order, empty lines, Windows line ends and a header in capitals", () => {
    const { columns, problems } = readCsvLabels("Label,Column,Table,Schema\r\n\r\npii,email,customers,public\r\n", "register.csv");
    expect([columns.length, problems, columns[0]?.origin.text, columns[0]?.origin.place.pointer]).toEqual([1, [], "register.csv:3", "@29"]);
  });

  test("none, if it only has a header", () => {
    expect(read("schema,table,column,label")).toEqual({ columns: [], problems: [] });
  });
});

describe("a CSV file is refused", () => {
  test.each<[string, readonly string[], string]>([
    ["with an unknown column", ["schema,table,colum,label"], '@0 register.csv has a column that dimsync does not know: "colum". '],
    ["without a column", ["schema,table,label", "a,b,pii"], "@0 register.csv has no column column."],
    ["with a column twice", ["schema,table,column,label,label"], '@0 register.csv has two columns "label". Remove one.'],
    ["that is empty", [""], "@0 register.csv is empty."],
    ["with a row that lacks a name", ["schema,table,column,label", "a,b,c,pii", "a,,c,"], "@36 register.csv:3 has no table, label."],
    ["with a row of another length", ["schema,table,column,label", "a,b,c"], "@26 register.csv:2 is not valid CSV:"],
    [
      "with a quote that is not closed",
      ["schema,table,column,label", 'a,"b,c,pii', "a,b,c,pii"],
      "@26 register.csv:2 is not valid CSV: a value begins with a quote",
    ],
  ])("%s", (_, lines, expected) => {
    const { columns, problems } = read(...lines);
    expect(columns).toEqual([]);
    expect(problems.map(({ code, place, message }) => `${code} ${place?.pointer} ${message}`.slice(0, 12 + expected.length))).toEqual([
      `E_LABEL_CSV ${expected}`,
    ]);
  });
});
