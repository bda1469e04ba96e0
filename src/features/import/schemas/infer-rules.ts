import { byText } from "../../../core/model/address.ts";
import { canonicalJson, defined, emptyRecord, own } from "../../../core/model/json/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas } from "../../../core/model/live.ts";
import { getOrAdd } from "../../../core/model/maps.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../../../core/model/resource.ts";
import { type ColumnPath, isReplicated, setFields, type WritableNode, walk } from "../../../core/model/schema-tree.ts";
import { freeName } from "../../../core/text/free-name.ts";
import { type ColumnProfile, type ColumnState, columnProfile, isMostlyOff, setFor } from "./column-profile.ts";
import { escapeGlob } from "./escape-glob.ts";

// Writes the live state of an integration's schemas as rules that are short enough to review. Each column name is listed once per
// schema, in the rule for the state that most columns of that name have; columns that deviate are exceptions in the literal tree.
// First come the rules for what is on, then for what is hashed or off, and last the long list of unhashed columns.
//
// `*` is only used for tables and schemas that are off, and no rule applies to all schemas. Names that are not listed are not managed
// until the next import. So a table or column that the source adds is never enabled or unhashed by a rule that import wrote.

export interface InferredRules {
  readonly rules: readonly SchemaRule[];
  /** What deviates from the rules. */
  readonly schemas: SchemaTree;
}

/** Ids of the rules that import writes and updates: `live-tables-on`, `live-columns-hashed-2`. */
export const liveRuleId = /^live-(schemas|tables|columns)-(on|off|clear|hashed|off-hashed)(?:-all)?(?:-\d+)?$/u;

export interface InferOptions {
  /** Ids of the configuration's other rules. */
  readonly takenIds?: ReadonlySet<string>;
  /** False if other rules come first, since `*` would also match their names. */
  readonly globs?: boolean;
}

/** The result does not depend on the order of the keys. */
export function inferRules(live: LiveSchemas, { takenIds = new Set(), globs = true }: InferOptions = {}): InferredRules {
  const names = Object.keys(live).sort(byText);
  const profiles = new Map<string, SchemaProfile>();
  for (const name of names) {
    const [schema, pattern] = [own(live, name), escapeGlob(name)];
    if (schema !== undefined && pattern !== undefined) profiles.set(name, { pattern, schema, ...columnProfile(schema, globs) });
  }
  const inOrder = [...profiles.values()];
  const schemaStates = names.map((name) => [name, own(live, name)?.enabled] as const);
  const drafts = [
    ...onOffRules({ level: "schemas", key: "schema", globs }, schemaStates),
    ...grouped(inOrder.flatMap((profile) => tableRules(profile, globs))),
    ...grouped(inOrder.flatMap(columnRules)),
    ...grouped(inOrder.flatMap(uniformRules)),
  ];
  return { rules: withIds(drafts, takenIds), schemas: exceptions(live, profiles) };
}

/** A rule before it has its id. */
interface DraftRule {
  readonly id: string;
  readonly match: { readonly schema?: readonly string[]; readonly table?: readonly string[]; readonly column?: readonly string[] };
  readonly set: ColumnTree;
}

/** A schema that a pattern can name, and the states of its columns. */
interface SchemaProfile extends ColumnProfile {
  readonly pattern: string;
  readonly schema: LiveSchema;
}

/** Rules that protect come first; the list of unhashed columns is the longest and the least interesting. */
const stateOrder: readonly ColumnState[] = ["hashed", "off", "off-hashed", "clear"];
const ruleOrder = ["live-tables-off-all", "live-tables-on", "live-tables-off", ...stateOrder.map((state) => `live-columns-${state}`)];

const patternsOf = (names: Iterable<string>): readonly string[] => [...names].flatMap((name) => escapeGlob(name) ?? []);

/** One rule per state. */
function columnRules({ byColumn, pattern }: SchemaProfile): readonly DraftRule[] {
  return stateOrder.flatMap((state): readonly DraftRule[] => {
    const column = patternsOf([...byColumn].flatMap(([name, one]) => (one === state ? [name] : [])));
    return column.length === 0 ? [] : [{ id: `live-columns-${state}`, match: { schema: [pattern], column }, set: setFor[state] }];
  });
}

/** One rule for all columns of tables with the same columns in one state. The columns are listed, so that the rule does not enable new ones. */
function uniformRules({ byTable, pattern, schema }: SchemaProfile): readonly DraftRule[] {
  const groups = new Map<string, { readonly state: ColumnState; readonly column: readonly string[]; readonly table: string[] }>();
  for (const [name, state] of byTable) {
    const column = [...patternsOf(Object.keys(own(schema.tables, name)?.columns ?? {}))].sort(byText);
    const key = canonicalJson([state, column]);
    getOrAdd(groups, key, () => ({ state, column, table: [] })).table.push(escapeGlob(name) ?? name);
  }
  return [...groups.values()].map(({ state, column, table }) => ({
    id: `live-columns-${state}-all`,
    match: { schema: [pattern], table, column },
    set: setFor[state],
  }));
}

function tableRules({ pattern, schema }: SchemaProfile, globs: boolean): readonly DraftRule[] {
  const tables = Object.entries(schema.tables)
    .map(([table, { enabled }]) => [table, enabled] as const)
    .sort(([a], [b]) => byText(a, b));
  const rules = onOffRules({ level: "tables", key: "table", globs }, tables);
  return rules.map((rule) => ({ ...rule, match: { schema: [pattern], ...rule.match } }));
}

/** Merges rules that are equal except for their schemas, and sorts them. */
function grouped(drafts: readonly DraftRule[]): readonly DraftRule[] {
  const groups = new Map<string, DraftRule>();
  for (const draft of drafts) {
    const { schema = [], ...match } = draft.match;
    const key = canonicalJson({ ...draft, match });
    const known = groups.get(key);
    const merged = known && { ...known, match: { ...known.match, schema: [...(known.match.schema ?? []), ...schema] } };
    groups.set(key, merged ?? draft);
  }
  return [...groups.values()].sort((a, b) => ruleOrder.indexOf(a.id) - ruleOrder.indexOf(b.id));
}

interface OnOff {
  readonly level: "schemas" | "tables";
  readonly key: "schema" | "table";
  readonly globs: boolean;
}

/** Nodes whose state the service does not show are in no rule. */
type NodeState = readonly [name: string, enabled: boolean | undefined];

/** A rule that lists what is on, and one that lists what is off. If most are off: one that turns all off, then one that lists what is on. */
function onOffRules({ level, key, globs }: OnOff, nodes: readonly NodeState[]): readonly DraftRule[] {
  const patterns = (wanted: boolean): readonly string[] =>
    patternsOf(nodes.flatMap(([name, enabled]) => (enabled === wanted ? [name] : [])));
  const rule = (id: string, names: readonly string[], enabled: boolean): readonly DraftRule[] =>
    names.length === 0 ? [] : [{ id, match: { [key]: names }, set: { enabled } }];
  const on = rule(`live-${level}-on`, patterns(true), true);
  if (globs && isMostlyOff(nodes.map(([, enabled]) => enabled !== false))) return [...rule(`live-${level}-off-all`, ["*"], false), ...on];
  return [...on, ...rule(`live-${level}-off`, patterns(false), false)];
}

/** The live state of all nodes as a literal tree, by name. */
export const literalSchemas = (live: LiveSchemas): SchemaTree => exceptions(live, new Map());

/** All of a schema that no pattern can name; of the others, what deviates from their rules. */
function exceptions(live: LiveSchemas, profiles: ReadonlyMap<string, SchemaProfile>): SchemaTree {
  const tree = emptyRecord<WritableNode>();
  walk(
    live,
    {
      schema: ({ enabled }, path) => void (profiles.has(path[0]) || setFields(tree, path, defined({ enabled }))),
      table: ({ enabled }, path) => void ((profiles.has(path[0]) && path[1] !== "") || setFields(tree, path, defined({ enabled }))),
      column: (column, path) => setFields(tree, path, deviation(profiles.get(path[0]), column, path)),
    },
    "by-name",
  );
  return tree;
}

function deviation(profile: SchemaProfile | undefined, { enabled, hashed }: LiveColumn, [, table, column]: ColumnPath): ColumnTree {
  if (profile === undefined) return defined({ enabled, hashed });
  const { schema, byColumn, byTable, leavesOut } = profile;
  const state = byTable.get(table) ?? byColumn.get(column);
  if (state === undefined) return leavesOut && !isReplicated(schema, table) ? {} : defined({ enabled, hashed });
  const set = setFor[state];
  return defined({ enabled: set.enabled === enabled ? undefined : enabled, hashed: set.hashed === hashed ? undefined : hashed });
}

function withIds(drafts: readonly DraftRule[], taken: ReadonlySet<string>): readonly SchemaRule[] {
  const used = new Set(taken);
  return drafts.map(({ id, match, set }) => {
    const unique = freeName(id, (one) => used.has(one));
    used.add(unique);
    return { id: unique, match, set };
  });
}
