import { byText } from "../../base/model/address.ts";
import type { ColumnReview, GoneColumn, NewColumn, TableColumns } from "../../base/model/columns.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { ColumnDifference } from "../../base/model/plan.ts";
import { type Problem, problemAt } from "../../base/model/problem.ts";
import { isEnabled, nodesAt, walk } from "../../base/model/schema-tree.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import { neverReviewedText } from "../../base/text/never-reviewed.ts";
import { nodeText } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import type { Account } from "../kind.ts";
import { integrations } from "../lists.ts";
import { labelsOf } from "../patterns/labels.ts";
import { labelScopes } from "../select.ts";
import type { NewColumns } from "./evaluate.ts";
import { keyRole } from "./evaluation.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** Compares the columns of an integration with those that someone has reviewed. Columns that `ignore` in dimsync.yaml covers are left out. */
export function reviewColumns(
  { address, name: nameInAddress, liveId: id, rules }: SchemaConfigUnit,
  live: LiveSchemas,
  { review, account }: { readonly review: ColumnReview; readonly account: Account },
): ColumnDifference {
  const name = account.list(integrations).byId.get(id)?.name || nameInAddress;
  const { isReviewed, added, gone } = review.compare({ address, id, name }, live);
  const isRefused = (columns: number): boolean => rules.program.unreviewed?.mode === "error" && columns > 0;
  const isIncluded = ({ schema, table, column }: GoneColumn): boolean => !account.ignored(address, nodePointer([schema, table, column]));
  const listed = (tables: readonly TableColumns[]): readonly GoneColumn[] =>
    tables
      .flatMap(({ columns, ...table }) => columns.map((column): GoneColumn => ({ address, id, ...table, column })))
      .filter(isIncluded)
      .sort((a, b) => byText(a.schema, b.schema) || byText(a.table, b.table) || byText(a.column, b.column));
  if (!isReviewed) {
    const all = columnCount(live, isIncluded, { address, id });
    const refuses = isRefused(all);
    // What this run has created was reviewed with its manifest.
    const columns = account.fresh.has(id) && !refuses ? 0 : all;
    const neverReviewed = columns === 0 ? {} : { neverReviewed: { address, id, name, columns } };
    return { newColumns: [], goneColumns: [], refuses, ...neverReviewed };
  }
  const labels = added.length === 0 ? undefined : labelScopes(account)?.(id);
  const newColumns = listed(added).map((column): NewColumn => {
    const found = labels === undefined ? [] : labelsOf(labels, live, [column.schema, column.table, column.column]);
    const label = [...new Set(found.map((one) => one.label))].join(", ");
    return { ...column, ...(label === "" ? {} : { label }), ...stateOf(column, live) };
  });
  return { newColumns, goneColumns: listed(gone), refuses: isRefused(newColumns.length) };
}

function columnCount(live: LiveSchemas, isIncluded: (column: GoneColumn) => boolean, of: Pick<GoneColumn, "address" | "id">): number {
  let count = 0;
  walk(live, {
    column(_, [schema, table, column]) {
      if (isIncluded({ ...of, schema, table, column })) count++;
    },
  });
  return count;
}

/** With `unreviewed: disable`, the new columns. */
export const switchedOffBy = ({ rules }: SchemaConfigUnit, { newColumns }: ColumnDifference): NewColumns | undefined =>
  rules.program.unreviewed?.mode === "disable" && newColumns.length > 0 ? byTable(newColumns) : undefined;

function stateOf(of: GoneColumn, live: LiveSchemas): Pick<NewColumn, "replicated" | "hashed"> {
  const { schema, table, column } = nodesAt(live, [of.schema, of.table, of.column]);
  return { replicated: [schema, table, column].every((node) => node !== undefined && isEnabled(node)), hashed: column?.hashed === true };
}

function byTable(columns: readonly NewColumn[]): NewColumns {
  const found = new Map<string, Map<string, Set<string>>>();
  for (const { schema, table, column } of columns) {
    const tables = getOrAdd(found, schema, () => new Map<string, Set<string>>());
    getOrAdd(tables, table, () => new Set<string>()).add(column);
  }
  return found;
}

/** With `unreviewed: warn`, a warning; with `disable`, one about key columns, which can't be disabled. */
export function newColumnProblems(
  { address, name, rules }: SchemaConfigUnit,
  live: LiveSchemas,
  { newColumns, neverReviewed }: ColumnDifference,
): readonly Problem[] {
  const { unreviewed } = rules.program;
  if (unreviewed === undefined) return [];
  const { place } = unreviewed.cause;
  const command = `dimsync catalog accept ${shellWord(address)}`;
  const warn = (message: string): readonly Problem[] => [problemAt(place, { code: "W_UNREVIEWED", severity: "warning", message, command })];
  const warning = (columns: readonly NewColumn[], text: string): readonly Problem[] => {
    if (columns.length === 0) return [];
    const names = andMore(
      columns.map(({ schema, table, column }) => nodeText([schema, table, column])),
      "column",
    );
    return warn(`${counted(columns.length, "column")} of ${name} ${columns.length === 1 ? "is" : "are"} not reviewed: ${names}. ${text}`);
  };
  if (neverReviewed !== undefined)
    return unreviewed.mode === "warn" ? warn(`${neverReviewedText(neverReviewed)}. Review and accept it.`) : [];
  if (unreviewed.mode === "warn") return warning(newColumns, "Review and accept them.");
  if (unreviewed.mode !== "disable") return [];
  const keys = newColumns.filter((one) => {
    const { table, column } = nodesAt(live, [one.schema, one.table, one.column]);
    return table !== undefined && column !== undefined && keyRole(one.column, column, table) !== undefined;
  });
  return warning(keys, "Primary keys and cursors cannot be disabled, so they are not switched off. Review and accept them.");
}
