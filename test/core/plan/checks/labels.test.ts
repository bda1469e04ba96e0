// Labels that match nothing, or disagree, are reported once.
import { describe, expect, test } from "vitest";
import type { ColumnLabels, LabelledColumn } from "../../../../src/core/base/model/columns.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import { labelRoots } from "../../../../src/core/kinds/patterns/labels.ts";
import { scan } from "../../../../src/core/kinds/schemas.ts";
import { labelCoverage } from "../../../../src/core/plan/checks/labels.ts";
import { column, schema, shop, table } from "../../kinds/schema-config/fleet.ts";

const place = (file: string) => ({ file, document: 0, pointer: "" });
const labelled = (describedBy: string, names: string, label = "pii"): LabelledColumn => {
  const [schemaName = "", tableName = "", columnName = ""] = names.split(".");
  return {
    ...{ side: "source", schema: schemaName, table: tableName, column: columnName, label, describedBy },
    origin: { text: `${describedBy}:${names}`, place: place(describedBy), isInManifest: false },
  };
};
const pattern = (name: string) => ({
  ...{ label: "pii", match: { column: name } },
  origin: { text: "personal", place: place(`${name}.yaml`), isInManifest: true },
});

function problems(given: Partial<ColumnLabels>, trees: readonly LiveSchemas[] = [shop()]): readonly string[] {
  const labels = { defined: [], patterns: [], columns: [], ...given };
  const roots = labelRoots(labels);
  const coverage = labelCoverage(labels);
  for (const [index, live] of trees.entries()) scan(live, [coverage.ask(roots({ names: [`shop-${index}`] }), `shop-${index}`)]);
  return coverage.problems().map(({ code, place: at, message }) => `${code} ${at?.file} ${message}`);
}

const only = (columns: LiveSchemas[string]["tables"][string]["columns"]): LiveSchemas => ({ public: schema({ users: table(columns) }) });

describe("labels that match nothing", () => {
  test("are reported once for each file, with examples", () => {
    const columns = ["a.b.c", "public.orders.note", "public.orders.nothing"].map((names) => labelled("one.csv", names));
    expect(problems({ columns: [...columns, labelled("two.csv", "public.orders.email")] })).toEqual([
      "W_NO_MATCH one.csv 2 labelled columns match no column that this run read: a.b.c (one.csv:a.b.c), public.orders.nothing (one.csv:public.orders.nothing). The names are those of the source, in the same case. Correct the names, or remove what no longer exists.",
    ]);
  });

  test("are reported for each pattern", () => {
    expect(problems({ patterns: [pattern("email"), pattern("fax")] })).toEqual([
      'W_NO_MATCH fax.yaml The patterns for label "pii" match no column that this run read. Correct or remove them.',
    ]);
  });

  test("are not reported if they match in another integration", () => {
    const trees = [only({ id: column() }), only({ email: column() })];
    expect(problems({ patterns: [pattern("email")], columns: [labelled("one.csv", "public.users.email")] }, trees)).toEqual([]);
    expect(problems({ patterns: [pattern("email")], columns: [labelled("one.csv", "public.users.email")] }, [...trees].reverse())).toEqual(
      [],
    );
  });

  test("are not reported if the columns of their table are unknown", () => {
    expect(problems({ patterns: [pattern("email")], columns: [labelled("one.csv", "public.users.email")] }, [only(undefined)])).toEqual([]);
  });
});

describe("two descriptions of a column", () => {
  const columns = (label: string) => [labelled("one.csv", "public.users.email"), labelled("two.csv", "public.users.email", label)];
  test("that give it different labels are reported, with the columns", () => {
    expect(problems({ columns: columns("secret") }, [only({ email: column() }), only({ email: column() })])).toEqual([
      'W_LABELS_DISAGREE one.csv Two descriptions give different labels to public.users.email of shop-0: "pii" (one.csv:public.users.email) and "secret" (two.csv:public.users.email). The column has all of these labels. Correct the one that is wrong.',
    ]);
  });

  test("that give it the same label agree", () => {
    expect(problems({ columns: columns("pii") }, [only({ email: column() })])).toEqual([]);
  });

  test("may be one with two labels, or a pattern", () => {
    const twice = [labelled("one.csv", "public.users.email"), labelled("one.csv", "public.users.email", "secret")];
    expect(problems({ columns: twice, patterns: [{ ...pattern("email"), label: "contact" }] }, [only({ email: column() })])).toEqual([]);
  });
});
