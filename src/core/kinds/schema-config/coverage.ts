import type { LiveSchemas } from "../../base/model/live.ts";
import type { UnmanagedTable } from "../../base/model/plan.ts";
import { isEnabled, type TablePath } from "../../base/model/schema-tree.ts";
import { isSameMode } from "../../base/model/sync-mode.ts";
import type { TableTest } from "../kind.ts";
import type { CachedMatch, RuleCache } from "./rules/rule-cache.ts";
import { isUncovered, managedEnabled, type Question, type ScannedNode, type ScannedTable, type ScanOptions, scan } from "./scan.ts";

/** The columns that `evaluate` counts as unmanaged, by name. An enabled table with unknown columns is listed without columns. */
export function unmanagedTables(rules: RuleCache, live: LiveSchemas): readonly Omit<UnmanagedTable, "address">[] {
  const found: { schema: string; table: string; columns?: string[] }[] = [];
  let columns: string[] | undefined;
  const question: Question = {
    table({ live: { columns: known, enabled }, path: [schema, table], managed: { match } }) {
      columns = undefined;
      // Columns of an ignored table are ignored, or managed by a later rule.
      if (known === undefined && enabled && match.below.ignoring.length === 0) found.push({ schema, table });
      return true;
    },
    column({ path: [schema, table, column], managed }) {
      if (!isUncovered(managed)) return;
      if (columns === undefined) {
        columns = [];
        found.push({ schema, table, columns });
      }
      columns.push(column);
    },
  };
  scan(live, [question], { rules, order: "by-name" });
  return found;
}

/** The tables that need their columns, and that the response shows without them. */
export function tablesWithoutColumns(
  live: LiveSchemas,
  isNeeded: (table: ScannedTable, schema: ScannedNode) => boolean,
  options?: ScanOptions,
): readonly TablePath[] {
  const found: TablePath[] = [];
  // Nearly every response has the columns of all its tables.
  if (Object.values(live).every(({ tables }) => Object.values(tables).every(({ columns }) => columns !== undefined))) return found;
  const question: Question = {
    table: (table, schema) => void (table.live.columns === undefined && isNeeded(table, schema) && found.push(table.path)),
  };
  scan(live, [question], options);
  return found;
}

/**
 * The tables whose columns must be read with a request each: the response has none, the table is or will be enabled, and a
 * rule, literal entry or `expect` entry needs them, or a policy (`policyColumns`) if they may be replicated.
 */
export const tablesToRead = (rules: RuleCache | undefined, live: LiveSchemas, policyColumns: TableTest | undefined): readonly TablePath[] =>
  tablesWithoutColumns(
    live,
    (node, schema) => {
      const { live: table, path, managed } = node;
      if (!mayBeEnabled(node)) return false;
      const forPolicy = mayBeEnabled(schema) && policyColumns?.(path[0], path[1], table.syncMode) === true;
      return forPolicy || managed.columnLiterals !== undefined || needsColumns(managed.match, table.syncMode);
    },
    { rules },
  );

const mayBeEnabled = ({ live, managed }: ScannedNode): boolean => isEnabled(live) || managedEnabled(managed) === true;

/** Whether a rule or `expect` entry may match columns of the table, and no later rule ignores the table or its schema. */
function needsColumns({ below: { rules, ignoring } }: CachedMatch, syncMode: string | undefined): boolean {
  const lastIgnoring = ignoring.at(-1)?.index ?? -1;
  return rules.some(
    ({ ignores, where, expected, minMatches = 0, index }) =>
      !ignores &&
      (where?.syncMode === undefined || isSameMode(where.syncMode, syncMode)) &&
      (index > lastIgnoring || expected !== undefined || minMatches > 0),
  );
}
