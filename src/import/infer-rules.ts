import { byText } from "../model/address.ts";
import { canonicalJson, emptyRecord, own } from "../model/json.ts";
import type { LiveSchema, LiveSchemas } from "../model/live.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../model/resource.ts";
import { type ColumnProfile, columnProfile, flows, isMostlyOff, type State, setFor } from "./column-profile.ts";
import { escapeGlob } from "./escape-glob.ts";

// How an imported schema configuration is written, so that a person can read it and the plan after it is empty. What is on stands first, then what is
// hashed or off, and last the long list of what is copied in clear. Names are listed once per schema, by state: nearly every column of a schema is like
// the others of its name. What a table does otherwise is an exception in the literal tree. Globs stand only for tables and schemas that are off, and no
// rule speaks of all schemas: a name that is not listed is nobody's business until the next import, so that a table or column that the source grows is never
// switched on, and never un-hashed, because a file once said "*".

export interface InferredRules {
  readonly rules: readonly SchemaRule[];
  /** What differs from the rules. */
  readonly schemas: SchemaTree;
}

/** Ids of rules that import wrote and keeps up: `live-tables-on`, `live-columns-hashed-2`. */
export const liveRuleId = /^live-(schemas|tables|columns)-(on|off|clear|hashed|off-hashed)(?:-all)?(?:-\d+)?$/u;

export interface InferOptions {
  /** Ids that other rules of the configuration have. */
  readonly takenIds?: ReadonlySet<string>;
  /** False where other rules come before: `*` would speak of their names too. */
  readonly globs?: boolean;
}

/** The same answer in whatever order the service gives its keys. */
export function inferRules(live: LiveSchemas, { takenIds = new Set(), globs = true }: InferOptions = {}): InferredRules {
  const names = Object.keys(live).sort(byText);
  const schemas = new Map<string, Named>();
  for (const name of names) {
    const [schema, pattern] = [own(live, name), escapeGlob(name)];
    if (schema !== undefined && pattern !== undefined) schemas.set(name, { pattern, schema, ...columnProfile(schema, globs) });
  }
  const named = [...schemas.values()];
  const tree = emptyRecord<Mutable>();
  for (const name of names) {
    const [schema, states] = [own(live, name), schemas.get(name)];
    if (schema === undefined) continue;
    const exceptions = states === undefined ? literalSchema(schema) : exceptionsOf(states);
    if (exceptions !== undefined) tree[name] = exceptions;
  }
  const drafts = [
    ...onOffRules(
      "schemas",
      "schema",
      names.map((name) => [name, own(live, name)?.enabled === true] as const),
      globs,
    ),
    ...inOrder(named.flatMap((one) => tableRules(one, globs))),
    ...inOrder(named.flatMap(columnRules)),
    ...inOrder(named.flatMap(uniformRules)),
  ];
  return { rules: withIds(drafts, takenIds), schemas: tree as SchemaTree };
}

/** Everything written out, in the service's own shape. */
export function literalSchemas(live: LiveSchemas): SchemaTree {
  const tree = emptyRecord<Mutable>();
  for (const name of Object.keys(live).sort(byText)) {
    const schema = own(live, name);
    if (schema !== undefined) tree[name] = literalSchema(schema);
  }
  return tree as SchemaTree;
}

interface Mutable {
  enabled?: boolean;
  tables?: Record<string, { enabled?: boolean; columns?: Record<string, ColumnTree> }>;
}

/** A rule before it has its id. */
interface Draft {
  readonly id: string;
  readonly match: { readonly schema?: readonly string[]; readonly table?: readonly string[]; readonly column?: readonly string[] };
  readonly set: ColumnTree;
}

/** A schema that a pattern can name, and what is said of its columns. */
interface Named extends ColumnProfile {
  readonly pattern: string;
  readonly schema: LiveSchema;
}

/** Protecting first: what is copied in clear is the longest list, and says least. */
const writtenOrder: readonly State[] = ["hashed", "off", "off-hashed", "clear"];

/** A rule for each state. */
function columnRules({ byColumn, pattern }: Named): readonly Draft[] {
  return writtenOrder.flatMap((state): readonly Draft[] => {
    const column = [...byColumn].flatMap(([name, one]) => (one === state ? (escapeGlob(name) ?? []) : []));
    return column.length === 0 ? [] : [{ id: `live-columns-${state}`, match: { schema: [pattern], column }, set: setFor[state] }];
  });
}

/** A rule for all columns of tables that are uniform. They are named, since hashing what is to come would also switch it on. */
function uniformRules({ byTable, pattern, schema }: Named): readonly Draft[] {
  const groups = new Map<string, Draft & { readonly tables: string[] }>();
  for (const [name, state] of byTable) {
    const column = Object.keys(own(schema.tables, name)?.columns ?? {})
      .flatMap((one) => escapeGlob(one) ?? [])
      .sort(byText);
    const key = canonicalJson([state, column]);
    const known = groups.get(key) ?? {
      id: `live-columns-${state}-all`,
      match: { schema: [pattern], column },
      set: setFor[state],
      tables: [],
    };
    groups.set(key, known);
    known.tables.push(escapeGlob(name) ?? name);
  }
  return [...groups.values()].map(({ id, match: { column = [] }, set, tables }) => ({
    id,
    match: { schema: [pattern], table: tables, column },
    set,
  }));
}

function tableRules({ pattern, schema }: Named, globs: boolean): readonly Draft[] {
  const tables = Object.keys(schema.tables).sort(byText);
  const rules = onOffRules(
    "tables",
    "table",
    tables.map((table) => [table, own(schema.tables, table)?.enabled === true] as const),
    globs,
  );
  return rules.map((rule) => ({ ...rule, match: { schema: [pattern], ...rule.match } }));
}

/** Off for all before on for some; what says the same of several schemas is one rule. */
function inOrder(drafts: readonly Draft[]): readonly Draft[] {
  const order = ["live-tables-off-all", "live-tables-on", "live-tables-off", ...writtenOrder.map((state) => `live-columns-${state}`)];
  const groups = new Map<string, Draft>();
  for (const draft of drafts) {
    const { schema, ...match } = draft.match;
    const key = canonicalJson({ ...draft, match });
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined ? draft : { ...known, match: { ...known.match, schema: [...(known.match.schema ?? []), ...(schema ?? [])] } },
    );
  }
  return [...groups.values()].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function exceptionsOf({ schema, byColumn, byTable, leavesOut }: Named): Mutable | undefined {
  const found = emptyRecord<{ enabled?: boolean; columns?: Record<string, ColumnTree> }>();
  for (const name of Object.keys(schema.tables).sort(byText)) {
    const table = own(schema.tables, name);
    if (table === undefined) continue;
    const columns = emptyRecord<ColumnTree>();
    for (const column of Object.keys(table.columns ?? {}).sort(byText)) {
      const live = own(table.columns, column);
      const rule = byTable.get(name) ?? byColumn.get(column);
      if (live === undefined || (rule === undefined && leavesOut && !flows(schema, name))) continue;
      const said = rule === undefined ? undefined : setFor[rule];
      const differs = {
        ...(said?.enabled === live.enabled ? {} : { enabled: live.enabled }),
        ...(said?.hashed === live.hashed ? {} : { hashed: live.hashed }),
      };
      if (Object.keys(differs).length > 0) columns[column] = differs;
    }
    const entry = { ...(name === "" ? { enabled: table.enabled } : {}), ...(Object.keys(columns).length > 0 ? { columns } : {}) };
    if (Object.keys(entry).length > 0) found[name] = entry;
  }
  return Object.keys(found).length === 0 ? undefined : { tables: found };
}

/** Two rules over names: on and off, each listed. Where most are off, off is said of all, and who is on is listed behind it. */
function onOffRules(
  level: "schemas" | "tables",
  key: "schema" | "table",
  nodes: readonly (readonly [name: string, enabled: boolean])[],
  globs: boolean,
): readonly Draft[] {
  const named = (wanted: boolean): readonly string[] =>
    nodes.flatMap(([name, enabled]) => (enabled === wanted ? (escapeGlob(name) ?? []) : []));
  const [on, off] = [named(true), named(false)];
  const rule = (id: string, names: readonly string[], enabled: boolean): readonly Draft[] =>
    names.length === 0 ? [] : [{ id, match: { [key]: names }, set: { enabled } }];
  if (globs && isMostlyOff(nodes.map(([, enabled]) => enabled)))
    return [...rule(`live-${level}-off-all`, ["*"], false), ...rule(`live-${level}-on`, on, true)];
  return [...rule(`live-${level}-on`, on, true), ...rule(`live-${level}-off`, off, false)];
}

function literalSchema(schema: LiveSchema): Mutable {
  const tables = emptyRecord<{ enabled?: boolean; columns?: Record<string, ColumnTree> }>();
  for (const name of Object.keys(schema.tables).sort(byText)) {
    const table = own(schema.tables, name);
    if (table === undefined) continue;
    const columns = emptyRecord<ColumnTree>();
    for (const column of Object.keys(table.columns ?? {}).sort(byText)) {
      const live = own(table.columns, column);
      if (live !== undefined) columns[column] = { enabled: live.enabled, hashed: live.hashed };
    }
    tables[name] = { enabled: table.enabled, ...(Object.keys(columns).length === 0 ? {} : { columns }) };
  }
  return { enabled: schema.enabled, ...(Object.keys(tables).length === 0 ? {} : { tables }) };
}

function withIds(drafts: readonly Draft[], taken: ReadonlySet<string>): readonly SchemaRule[] {
  const used = new Set(taken);
  return drafts.map(({ id, match, set }) => {
    let unique = id;
    for (let number = 2; used.has(unique); number++) unique = `${id}-${number}`;
    used.add(unique);
    return { id: unique, match, set };
  });
}
