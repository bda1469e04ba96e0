import { byText } from "../../base/model/address.ts";
import type { ColumnReview, TableColumns } from "../../base/model/columns.ts";
import { defined } from "../../base/model/json/json.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { Finding } from "../../base/model/plan.ts";
import { type Problem, problemAt } from "../../base/model/problem.ts";
import { type ColumnPath, isEnabled, nodesAt, walk } from "../../base/model/schema-tree.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import type { Account } from "../kind.ts";
import { integrations } from "../lists.ts";
import { labelsOf } from "../patterns/labels.ts";
import { labelScopes } from "../select.ts";
import type { NewColumns } from "./evaluate.ts";
import { keyRole } from "./evaluation.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** What of an integration nobody has reviewed, and what of the reviewed columns is gone. */
interface ColumnDifference {
  readonly findings: readonly Finding[];
  readonly added: readonly ColumnPath[];
  readonly gone: readonly TableColumns[];
}

/** Compares the columns of an integration with those that someone has reviewed. Columns that `ignore` in dimsync.yaml covers are left out. */
export function reviewColumns(
  { address, name: nameInAddress, liveId: id, rules }: SchemaConfigUnit,
  live: LiveSchemas,
  { review, account }: { readonly review: ColumnReview; readonly account: Account },
): ColumnDifference {
  const name = account.list(integrations).byId.get(id)?.name || nameInAddress;
  const reviewed = review.compare({ address, id, name }, live);
  const of = { address, ...defined({ refuses: rules.program.unreviewed?.mode === "error" ? ("unreviewed" as const) : undefined }) };
  const isIncluded = (path: ColumnPath): boolean => !account.ignored(address, nodePointer(path));
  if (!reviewed.isReviewed) {
    const count = columnCount(live, isIncluded);
    // What this run has created was reviewed with its manifest.
    const isNamed = count > 0 && (!account.fresh.has(id) || of.refuses !== undefined);
    const message = `Integration ${visible(name)} (${visible(id)}): ${counted(count, "column")}, never reviewed`;
    return { findings: isNamed ? [{ rule: "never-reviewed", severity: "warning", message, count, ...of }] : [], added: [], gone: [] };
  }
  const added = includedIn(reviewed.added, isIncluded).flatMap(({ schema, table, columns }) =>
    columns.map((column): ColumnPath => [schema, table, column]),
  );
  const gone = includedIn(reviewed.gone, isIncluded);
  const labels = added.length === 0 ? undefined : labelScopes(account)?.(id);
  const newColumn = (path: ColumnPath): Finding => {
    const state = stateOf(path, live);
    const label = [...new Set(labels === undefined ? [] : labelsOf(labels, live, path).map((one) => one.label))].join(", ");
    const message = joinParts([state, label === "" ? "" : `label ${visible(label)}`], ", ");
    return { rule: "new-column", severity: state === readable ? "warning" : "info", message, path: nodePointer(path), ...of };
  };
  return { findings: [...added.map(newColumn), ...gone.flatMap((table) => goneColumns(address, table))], added, gone };
}

/** The tables and columns by name, without those that are left out. */
const includedIn = (tables: readonly TableColumns[], isIncluded: (path: ColumnPath) => boolean): readonly TableColumns[] =>
  tables
    .map(({ columns, ...of }) => ({
      ...of,
      columns: columns.filter((column) => isIncluded([of.schema, of.table, column])).sort(byText),
    }))
    .filter(({ columns }) => columns.length > 0)
    .sort((a, b) => byText(a.schema, b.schema) || byText(a.table, b.table));

/** One finding for a table that is gone, else one for each column. */
const goneColumns = (address: string, { schema, table, columns, isTableGone }: TableColumns): readonly Finding[] =>
  isTableGone === true
    ? [
        {
          rule: "gone-table",
          severity: "info",
          message: "The account has no such table any more.",
          address,
          path: nodePointer([schema, table]),
          count: columns.length,
        },
      ]
    : columns.map((column) => ({
        rule: "gone-column",
        severity: "info",
        message: "The account has no such column any more.",
        address,
        path: nodePointer([schema, table, column]),
      }));

function columnCount(live: LiveSchemas, isIncluded: (path: ColumnPath) => boolean): number {
  let count = 0;
  walk(live, {
    column(_, path) {
      if (isIncluded(path)) count++;
    },
  });
  return count;
}

/** With `unreviewed: disable`, the new columns. */
export function switchedOffBy({ rules }: SchemaConfigUnit, added: readonly ColumnPath[]): NewColumns | undefined {
  if (rules.program.unreviewed?.mode !== "disable" || added.length === 0) return undefined;
  const found = new Map<string, Map<string, Set<string>>>();
  for (const [schema, table, column] of added) {
    const tables = getOrAdd(found, schema, () => new Map<string, Set<string>>());
    getOrAdd(tables, table, () => new Set<string>()).add(column);
  }
  return found;
}

const readable = "replicated, unhashed";

/** What the service does with the column now. */
function stateOf(path: ColumnPath, live: LiveSchemas): string {
  const { schema, table, column } = nodesAt(live, path);
  if (![schema, table, column].every((node) => node !== undefined && isEnabled(node))) return "not replicated";
  return column?.hashed === true ? "replicated, hashed" : readable;
}

/** With `unreviewed: warn`, a warning; with `disable`, one about key columns, which can't be disabled. */
export function newColumnProblems(
  { address, name, rules }: SchemaConfigUnit,
  live: LiveSchemas,
  { findings, added }: ColumnDifference,
): readonly Problem[] {
  const { unreviewed } = rules.program;
  if (unreviewed === undefined) return [];
  const { place } = unreviewed.cause;
  const command = `dimsync catalog accept ${shellWord(address)}`;
  const warn = (message: string): readonly Problem[] => [problemAt(place, { code: "W_UNREVIEWED", severity: "warning", message, command })];
  const warning = (columns: readonly ColumnPath[], text: string): readonly Problem[] => {
    if (columns.length === 0) return [];
    const names = andMore(columns.map(nodeText), "column");
    return warn(`${counted(columns.length, "column")} of ${name} ${columns.length === 1 ? "is" : "are"} not reviewed: ${names}. ${text}`);
  };
  const never = findings.find(({ rule }) => rule === "never-reviewed");
  if (never !== undefined) return unreviewed.mode === "warn" ? warn(`${never.message}. Review and accept it.`) : [];
  if (unreviewed.mode === "warn") return warning(added, "Review and accept them.");
  if (unreviewed.mode !== "disable") return [];
  const keys = added.filter((path) => {
    const { table, column } = nodesAt(live, path);
    return table !== undefined && column !== undefined && keyRole(path[2], column, table) !== undefined;
  });
  return warning(keys, "Primary keys and cursors cannot be disabled, so they are not switched off. Review and accept them.");
}
