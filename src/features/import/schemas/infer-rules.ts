import { byText } from "../../../core/base/model/address.ts";
import { canonicalJson, emptyRecord, own } from "../../../core/base/model/json/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas } from "../../../core/base/model/live.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../../../core/base/model/manifest.ts";
import { freeName, getOrAdd } from "../../../core/base/model/maps.ts";
import { isReplicated, setFields, type WritableNode, walk } from "../../../core/base/model/schema-tree.ts";

// Writes what the live state of an integration's schemas protects, as rules that are short enough to review: what is off, and which
// columns are hashed. What is enabled and readable is in no rule, so that a rule of somebody else that protects it always wins, and
// removing rules never makes data readable.
//
// A column name that has the same state in all tables of a schema is listed once for the schema, others with their tables.
// `*` is only used for tables and schemas that are off. So a table or column that the source adds is never enabled or unhashed.

interface InferredRules {
  readonly rules: readonly SchemaRule[];
  /** What no pattern can name, and columns of tables that are off: rules for these alone would have no effect. */
  readonly schemas: SchemaTree;
}

/** The result does not depend on the order of the keys. */
export function inferRules(live: LiveSchemas): InferredRules {
  const names = Object.keys(live).sort(byText);
  const profiles = new Map(
    names.flatMap((name): readonly (readonly [string, SchemaProfile])[] => {
      const [schema, pattern] = [own(live, name), escapeGlob(name)];
      return schema === undefined || pattern === undefined ? [] : [[name, profileOf(pattern, schema)]];
    }),
  );
  const inOrder = [...profiles.values()];
  const schemaStates = names.map((name) => [name, own(live, name)?.enabled] as const);
  const drafts = [
    ...offRules({ level: "schemas", key: "schema" }, schemaStates),
    ...grouped(inOrder.flatMap(tableRules)),
    ...grouped(inOrder.flatMap(columnRules)),
    ...grouped(inOrder.flatMap(listedRules)),
  ];
  return { rules: withIds(drafts), schemas: withoutRules(live, profiles) };
}

/** A rule before it has its id. */
interface DraftRule {
  readonly id: string;
  readonly match: { readonly schema?: readonly string[]; readonly table?: readonly string[]; readonly column?: readonly string[] };
  readonly set: ColumnTree;
}

/** What protects a column. Rule ids such as `live-columns-hashed` contain these words. */
type Protected = keyof typeof setFor;

const setFor = {
  hashed: { hashed: true },
  off: { enabled: false },
  "off-hashed": { enabled: false, hashed: true },
} as const satisfies Readonly<Record<string, ColumnTree>>;

const states = Object.keys(setFor) as readonly Protected[]; // the keys of the record

/** Undefined if nothing protects it, as far as the service shows it. */
function stateOf({ enabled, hashed }: LiveColumn): Protected | undefined {
  if (enabled === false) return hashed === true ? "off-hashed" : "off";
  return hashed === true ? "hashed" : undefined;
}

/** A schema that a pattern can name. */
interface SchemaProfile {
  readonly pattern: string;
  readonly schema: LiveSchema;
  /** Names whose columns are protected in the same way in all tables. */
  readonly byName: ReadonlyMap<string, Protected>;
  /** The tables whose columns are written; if most tables are off, one rule turns them off and their columns are left out. */
  readonly listed: readonly string[];
  /** Those of them that are off. */
  readonly off: ReadonlySet<string>;
}

function profileOf(pattern: string, schema: LiveSchema): SchemaProfile {
  const tables = Object.keys(schema.tables).sort(byText);
  const leavesOut = isMostlyOff(Object.values(schema.tables).map(({ enabled }) => enabled));
  const listed = leavesOut ? tables.filter((table) => isReplicated(schema, table)) : tables;
  const off = new Set(listed.filter((table) => own(schema.tables, table)?.enabled === false));
  return { pattern, schema, listed, off, byName: sameEverywhere(schema, listed) };
}

function sameEverywhere(schema: LiveSchema, listed: readonly string[]): ReadonlyMap<string, Protected> {
  const found = new Map<string, Protected | undefined>();
  const names = new Set(listed.flatMap((table) => Object.keys(own(schema.tables, table)?.columns ?? {})));
  // Also those of tables that are not listed: a rule for the name matches them, too.
  for (const { columns = {} } of Object.values(schema.tables))
    for (const [name, column] of Object.entries(columns)) {
      const state = stateOf(column);
      found.set(name, found.has(name) && found.get(name) !== state ? undefined : state);
    }
  return new Map(
    [...found].flatMap(([name, state]) =>
      state === undefined || !names.has(name) || escapeGlob(name) === undefined ? [] : [[name, state] as const],
    ),
  );
}

/** If most tables are off, one rule turns all of them off and their columns are not listed. */
function isMostlyOff(enabled: readonly (boolean | undefined)[]): boolean {
  const off = enabled.filter((one) => one === false).length;
  return off > 3 && off > enabled.length - off;
}

const ruleOrder = ["live-tables-off-all", "live-tables-off", ...states.map((state) => `live-columns-${state}`)];

/** One rule per state, for the names that are protected everywhere. */
function columnRules({ byName, pattern }: SchemaProfile): readonly DraftRule[] {
  return states.flatMap((state): readonly DraftRule[] => {
    const column = patternsOf([...byName].flatMap(([name, one]) => (one === state ? [name] : []))).toSorted(byText);
    return column.length === 0 ? [] : [{ id: `live-columns-${state}`, match: { schema: [pattern], column }, set: setFor[state] }];
  });
}

/** One rule for all tables in which the same columns are protected in the same way. */
function listedRules({ schema, pattern, listed, off, byName }: SchemaProfile): readonly DraftRule[] {
  const groups = new Map<string, { readonly state: Protected; readonly column: readonly string[]; readonly table: string[] }>();
  for (const name of listed) {
    const table = escapeGlob(name);
    if (table === undefined || off.has(name)) continue;
    const columns = Object.entries(own(schema.tables, name)?.columns ?? {}).filter(([column]) => !byName.has(column));
    for (const state of states) {
      const column = patternsOf(columns.flatMap(([one, live]) => (stateOf(live) === state ? [one] : []))).toSorted(byText);
      if (column.length > 0) getOrAdd(groups, canonicalJson([state, column]), () => ({ state, column, table: [] })).table.push(table);
    }
  }
  return [...groups.values()].map(({ state, column, table }) => ({
    id: `live-columns-${state}`,
    match: { schema: [pattern], table, column },
    set: setFor[state],
  }));
}

function tableRules({ pattern, schema }: SchemaProfile): readonly DraftRule[] {
  const tables = Object.entries(schema.tables)
    .map(([table, { enabled }]) => [table, enabled] as const)
    .sort(([a], [b]) => byText(a, b));
  const rules = offRules({ level: "tables", key: "table" }, tables);
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

interface Off {
  readonly level: "schemas" | "tables";
  readonly key: "schema" | "table";
}

/** A rule that lists what is off; if most are off: all except those that are not. */
function offRules({ level, key }: Off, nodes: readonly (readonly [name: string, enabled: boolean | undefined])[]): readonly DraftRule[] {
  const off = nodes.flatMap(([name, enabled]) => (enabled === false ? [name] : []));
  const others = nodes.flatMap(([name, enabled]) => (enabled === false ? [] : [name]));
  const canExclude = others.every((name) => escapeGlob(name) !== undefined);
  const isAll = canExclude && isMostlyOff(nodes.map(([, enabled]) => enabled));
  const names = isAll ? ["*", ...patternsOf(others).map((name) => `!${name}`)] : patternsOf(off);
  return names.length === 0 ? [] : [{ id: `live-${level}-off${isAll ? "-all" : ""}`, match: { [key]: names }, set: { enabled: false } }];
}

/** A literal tree of what no rule is written for: nodes that no pattern can name, and columns of tables that are off. */
const withoutRules = (live: LiveSchemas, profiles: ReadonlyMap<string, SchemaProfile>): SchemaTree =>
  protectedIn(live, (path) => {
    const [schema = "", table = "", column] = path;
    const profile = profiles.get(schema);
    const isOff = column !== undefined && profile?.off.has(table) === true && !profile.byName.has(column);
    return isOff || path.some((name) => escapeGlob(name) === undefined);
  });

function protectedIn(live: LiveSchemas, isWritten: (path: readonly string[]) => boolean): SchemaTree {
  const tree = emptyRecord<WritableNode>();
  const write = (path: Parameters<typeof setFields>[1], fields: ColumnTree): void => {
    if (isWritten(path.filter((name) => name !== undefined))) setFields(tree, path, fields);
  };
  const off = ({ enabled }: Pick<LiveSchema, "enabled">): ColumnTree => (enabled === false ? { enabled } : {});
  walk(
    live,
    {
      schema: (node, path) => void write(path, off(node)),
      table: (node, path) => void write(path, off(node)),
      column: (node, path) => {
        const state = stateOf(node);
        write(path, state === undefined ? {} : setFor[state]);
      },
    },
    "by-name",
  );
  return tree;
}

function withIds(drafts: readonly DraftRule[]): readonly SchemaRule[] {
  const used = new Set<string>();
  return drafts.map(({ id, match, set }) => {
    const unique = freeName(id, (one) => used.has(one));
    used.add(unique);
    return { id: unique, match, set };
  });
}

/** A pattern that matches exactly this name: characters that a glob gives a meaning are escaped. Undefined for "", which no pattern matches. */
export function escapeGlob(name: string): string | undefined {
  if (name === "") return undefined;
  const escaped = name.replaceAll(/[*?[\]{}\\]/gu, (letter) => `\\${letter}`);
  return escaped.startsWith("!") ? `\\${escaped}` : escaped;
}

/** Those of the names that a pattern can have. */
export const patternsOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => escapeGlob(name) ?? []);
