import { defined, emptyRecord } from "../../model/json/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { UnmanagedTable } from "../../model/plan.ts";
import type { SchemaTree } from "../../model/resource.ts";
import {
  type ColumnPath,
  type Depth,
  isEnabled,
  type SchemaPath,
  setFields,
  type TablePath,
  type WalkOrder,
  type WritableNode,
  walk,
} from "../../model/schema-tree.ts";
import { isSameMode } from "../../model/sync-mode.ts";
import type { TableTest } from "../kind.ts";
import { literalColumnMaps, literalColumns, literalSchemas, literalTables } from "./literal-trees.ts";
import { type Literals, newResolution, type Resolution, resolve } from "./rules/resolve-rules.ts";
import { type CachedMatch, matchIn, type RuleCache } from "./rules/rule-cache.ts";

/** A live node with what rules and literal trees set for it. */
interface ResolvedNode<Node, Path> {
  readonly node: Node;
  readonly path: Path;
  readonly match: CachedMatch;
  readonly literals: Literals | undefined;
  /** Read it before the next node: it is reused. */
  readonly resolution: Resolution;
}

interface ResolvedTable extends ResolvedNode<LiveTable, TablePath> {
  /** The literal entries of its columns. */
  readonly columnLiterals: ReturnType<typeof literalColumnMaps>;
}

/** Called for each node of its level. Returning false leaves out the nodes below. */
interface ResolvedVisitor {
  readonly schema?: (schema: ResolvedNode<LiveSchema, SchemaPath>) => boolean | undefined;
  readonly table?: (table: ResolvedTable) => boolean | undefined;
  readonly column?: (column: ResolvedNode<LiveColumn, ColumnPath>) => void;
}

/** Walks a live tree with its rules. */
export function walkResolved(cache: RuleCache, live: LiveSchemas, visitor: ResolvedVisitor, order?: WalkOrder): void {
  const { program, root } = cache;
  const { layers, literalTrees } = program;
  const resolution = newResolution();
  const resolveNode = (match: CachedMatch, literals: Literals | undefined, depth: Depth): Resolution => {
    resolve(resolution, match.applied, literals, { layers, depth });
    return resolution;
  };
  let inSchema = root;
  let schemaLiterals: ReturnType<typeof literalSchemas>;
  let inTable = root;
  let columnMaps: ReturnType<typeof literalColumnMaps>;
  const { column } = visitor;
  const columnVisitor = column && {
    column: (node: LiveColumn, path: ColumnPath, { syncMode }: LiveTable): void => {
      const match = matchIn(inTable, path[2], node, syncMode);
      const literals = columnMaps && literalColumns(columnMaps, path[2]);
      column({ node, path, match, literals, resolution: resolveNode(match, literals, 2) });
    },
  };
  walk(
    live,
    {
      schema(node, path) {
        const match = matchIn(root, path[0], node, undefined);
        inSchema = match.below;
        schemaLiterals = literalSchemas(literalTrees, path[0]);
        return visitor.schema?.({ node, path, match, literals: schemaLiterals, resolution: resolveNode(match, schemaLiterals, 0) });
      },
      table(node, path) {
        const match = matchIn(inSchema, path[1], node, node.syncMode);
        const literals = literalTables(schemaLiterals, path[1]);
        inTable = match.below;
        columnMaps = literalColumnMaps(literals);
        return visitor.table?.({ node, path, match, literals, columnLiterals: columnMaps, resolution: resolveNode(match, literals, 1) });
      },
      ...columnVisitor,
    },
    order,
  );
}

/** The value of `enabled`, with what `unmatched` sets for nodes that nothing covers; undefined if it stays as it is. */
function resolvedEnabled({ program }: RuleCache, resolution: Resolution, depth: Depth): boolean | undefined {
  if (resolution.enabled !== undefined) return resolution.enabled;
  const mode = resolution.covered || resolution.ignored ? undefined : program.unmatched[depth]?.mode;
  return mode === undefined || mode === "error" ? undefined : mode === "enable";
}

/** Whether nothing covers or ignores a node, and `unmatched` sets nothing for it. */
export const isUncovered = (cache: RuleCache, resolution: Resolution, depth: Depth): boolean =>
  !resolution.covered && !resolution.ignored && resolvedEnabled(cache, resolution, depth) === undefined;

/**
 * What the SchemaConfigs of an integration manage, as one literal tree: rules and `unmatched` are resolved over the live
 * names (`render --expand`). A manifest with this tree and no rules manages the same, as long as the account has the same
 * names. Names are sorted; nodes for which nothing is set are left out.
 */
export function expand(cache: RuleCache, live: LiveSchemas): SchemaTree {
  const schemas = emptyRecord<WritableNode>();
  const add =
    (depth: Depth) =>
    ({ path, resolution }: Pick<ResolvedNode<unknown, NodePath>, "path" | "resolution">): undefined =>
      void setFields(schemas, path, defined({ enabled: resolvedEnabled(cache, resolution, depth), hashed: resolution.hashed }));
  walkResolved(cache, live, { schema: add(0), table: add(1), column: add(2) }, "by-name");
  return schemas;
}

/** The columns that `evaluate` counts as unmanaged, by name. An enabled table with unknown columns is listed without columns. */
export function unmanagedTables(cache: RuleCache, live: LiveSchemas): readonly Omit<UnmanagedTable, "address">[] {
  const found: { schema: string; table: string; columns?: string[] }[] = [];
  let columns: string[] | undefined;
  walkResolved(
    cache,
    live,
    {
      table({ node, path: [schema, table], match }) {
        columns = undefined;
        // Columns of an ignored table are ignored, or managed by a later rule.
        if (node.columns === undefined && node.enabled && match.below.ignoring.length === 0) found.push({ schema, table });
        return true;
      },
      column({ path: [schema, table, column], resolution }) {
        if (!isUncovered(cache, resolution, 2)) return;
        if (columns === undefined) {
          columns = [];
          found.push({ schema, table, columns });
        }
        columns.push(column);
      },
    },
    "by-name",
  );
  return found;
}

/**
 * The tables whose columns must be read with a request each: the response has none, the table is or will be enabled, and a
 * rule, literal entry or `expect` entry needs them, or a policy (`policyColumns`) if they may be replicated.
 */
export function tablesToRead(cache: RuleCache, live: LiveSchemas, policyColumns: TableTest | undefined): readonly TablePath[] {
  const found: TablePath[] = [];
  // Nearly every response has the columns of all its tables.
  if (Object.values(live).every(({ tables }) => Object.values(tables).every(({ columns }) => columns !== undefined))) return found;
  let schemaMayBeEnabled = false;
  walkResolved(cache, live, {
    schema({ node, resolution }) {
      schemaMayBeEnabled = isEnabled(node) || resolvedEnabled(cache, resolution, 0) === true;
      return true;
    },
    table({ node, path, match, columnLiterals, resolution }) {
      if (node.columns !== undefined || !(isEnabled(node) || resolvedEnabled(cache, resolution, 1) === true)) return;
      const forPolicy = schemaMayBeEnabled && policyColumns?.(path[0], path[1], node.syncMode) === true;
      if (forPolicy || columnLiterals !== undefined || needsColumns(match, node.syncMode)) found.push(path);
    },
  });
  return found;
}

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

/** The enabled tables of an integration without SchemaConfig whose columns must be read for policies. */
export function policyTablesWithoutColumns(live: LiveSchemas, policyColumns: TableTest): readonly TablePath[] {
  const found: TablePath[] = [];
  walk(live, {
    schema: isEnabled,
    table(node, path) {
      if (isEnabled(node) && node.columns === undefined && policyColumns(path[0], path[1], node.syncMode)) found.push(path);
    },
  });
  return found;
}
