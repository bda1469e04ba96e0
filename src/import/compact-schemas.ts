import { byText } from "../model/address.ts";
import { canonicalJson, emptyRecord, own } from "../model/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas } from "../model/live.ts";
import type { ColumnTree, SchemaRule, SchemaTree } from "../model/resource.ts";
import { patternFor } from "./pattern.ts";

// How an imported schema configuration is written, so that a person can read it and the plan after it is empty. Nearly every column of a schema is
// like the others of its name, so names are listed once per schema, by state: on and in clear, hashed, off. Tables likewise. What a table does otherwise is an
// exception in the literal tree. Globs stand only for what is off or hashed. A name that is not listed is nobody's business until the next import:
// a table or column that the source grows is never switched on, and never un-hashed, because a file once said "*".

export interface CompactSchemas {
  readonly rules: readonly SchemaRule[];
  /** What differs from the rules. */
  readonly schemas: SchemaTree;
}

/** Ids of rules that import wrote and keeps up: `live-tables-on`, `live-columns-hashed-2`. */
export const liveRuleId = /^live-(schemas|tables|columns)-(on|off|clear|hashed|off-hashed)(?:-all)?(?:-\d+)?$/u;

export interface CompactOptions {
  /** Ids that other rules of the configuration have. */
  readonly takenIds?: ReadonlySet<string>;
  /** False where other rules come before: `*` would speak of their names too. */
  readonly globs?: boolean;
}

/** The same answer in whatever order the service gives its keys. */
export function compactSchemas(live: LiveSchemas, { takenIds = new Set(), globs = true }: CompactOptions = {}): CompactSchemas {
  const names = Object.keys(live).sort(byText);
  const tree = emptyRecord<Mutable>();
  const bodies = new Map<string, { readonly rules: readonly Draft[]; readonly schemas: string[] }>();
  for (const name of names) {
    const schema = own(live, name);
    if (schema === undefined) continue;
    const pattern = patternFor(name);
    const { rules, exceptions } = pattern === undefined ? literalSchema(schema) : compactSchema(schema, globs);
    if (exceptions !== undefined) tree[name] = exceptions;
    if (pattern === undefined) continue;
    const key = canonicalJson(rules);
    const known = bodies.get(key) ?? { rules, schemas: [] };
    known.schemas.push(pattern);
    bodies.set(key, known);
  }
  const onOff = onOffRules(
    "schemas",
    "schema",
    names.map((name) => [name, own(live, name)?.enabled === true] as const),
    globs,
  );
  const rules = [
    ...onOff,
    ...[...bodies.values()].flatMap((body) => body.rules.map((rule) => ({ ...rule, match: { schema: body.schemas, ...rule.match } }))),
  ];
  return { rules: withIds(rules, takenIds), schemas: tree as SchemaTree };
}

/** Everything written out, in the service's own shape. */
export function literalSchemas(live: LiveSchemas): SchemaTree {
  const tree = emptyRecord<Mutable>();
  for (const name of Object.keys(live).sort(byText)) {
    const schema = own(live, name);
    if (schema !== undefined) tree[name] = literalSchema(schema).exceptions;
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

type State = "clear" | "hashed" | "off" | "off-hashed";
/** Of states that are equally frequent the one that protects most is the rule. */
const states: readonly State[] = ["off-hashed", "off", "hashed", "clear"];
const stateOf = ({ enabled, hashed }: LiveColumn): State => (enabled ? (hashed ? "hashed" : "clear") : hashed ? "off-hashed" : "off");
const setFor: Readonly<Record<State, Required<ColumnTree>>> = {
  clear: { enabled: true, hashed: false },
  hashed: { enabled: true, hashed: true },
  off: { enabled: false, hashed: false },
  "off-hashed": { enabled: false, hashed: true },
};

function compactSchema(schema: LiveSchema, globs: boolean): { readonly rules: readonly Draft[]; readonly exceptions: Mutable | undefined } {
  const tables = Object.keys(schema.tables).sort(byText);
  const rules: Draft[] = [
    ...onOffRules(
      "tables",
      "table",
      tables.map((table) => [table, own(schema.tables, table)?.enabled === true] as const),
      globs,
    ),
  ];
  const whole = globs ? uniformTables(schema, tables) : new Map<string, State>();
  const stateByName = majorities(
    schema,
    tables.filter((table) => !whole.has(table)),
  );
  for (const state of [...states].reverse()) {
    const column = [...stateByName].filter(([, one]) => one === state).flatMap(([name]) => patternFor(name) ?? []);
    if (column.length > 0) rules.push({ id: `live-columns-${state}`, match: { column }, set: setFor[state] });
  }
  for (const state of [...states].reverse()) {
    const table = [...whole].filter(([, one]) => one === state).flatMap(([name]) => patternFor(name) ?? []);
    if (table.length > 0) rules.push({ id: `live-columns-${state}-all`, match: { table, column: ["*"] }, set: setFor[state] });
  }
  return { rules, exceptions: exceptionsOf(schema, tables, (table, column) => whole.get(table) ?? stateByName.get(column)) };
}

/** Tables all of whose columns are off, or all hashed: one rule says that, and says it of columns to come too. */
function uniformTables(schema: LiveSchema, tables: readonly string[]): ReadonlyMap<string, State> {
  const uniform = new Map<string, State>();
  for (const table of tables) {
    const columns = Object.values(own(schema.tables, table)?.columns ?? {});
    const [first] = columns;
    if (first === undefined || columns.length < 2 || patternFor(table) === undefined) continue;
    const state = stateOf(first);
    if (state !== "clear" && columns.every((column) => stateOf(column) === state)) uniform.set(table, state);
  }
  return uniform;
}

/** The most frequent state of each column name over the tables, in the order of names. */
function majorities(schema: LiveSchema, tables: readonly string[]): ReadonlyMap<string, State> {
  const counts = new Map<string, Map<State, number>>();
  for (const table of tables) {
    const columns = own(schema.tables, table)?.columns ?? {};
    for (const name of Object.keys(columns)) {
      const column = own(columns, name);
      if (column === undefined || name === "") continue;
      const ofName = counts.get(name) ?? new Map<State, number>();
      counts.set(name, ofName);
      ofName.set(stateOf(column), (ofName.get(stateOf(column)) ?? 0) + 1);
    }
  }
  const majority = (ofName: ReadonlyMap<State, number>): State =>
    states.reduce((best, state) => ((ofName.get(state) ?? 0) > (ofName.get(best) ?? 0) ? state : best));
  return new Map([...counts].sort(([a], [b]) => byText(a, b)).map(([name, ofName]) => [name, majority(ofName)]));
}

function exceptionsOf(
  schema: LiveSchema,
  tables: readonly string[],
  ruled: (table: string, column: string) => State | undefined,
): Mutable | undefined {
  const found = emptyRecord<{ enabled?: boolean; columns?: Record<string, ColumnTree> }>();
  for (const name of tables) {
    const table = own(schema.tables, name);
    if (table === undefined) continue;
    const columns = emptyRecord<ColumnTree>();
    for (const column of Object.keys(table.columns ?? {}).sort(byText)) {
      const live = own(table.columns, column);
      if (live === undefined) continue;
      const rule = ruled(name, column);
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
    nodes.flatMap(([name, enabled]) => (enabled === wanted ? (patternFor(name) ?? []) : []));
  const [on, off] = [named(true), named(false)];
  const rule = (id: string, names: readonly string[], enabled: boolean): readonly Draft[] =>
    names.length === 0 ? [] : [{ id, match: { [key]: names }, set: { enabled } }];
  if (globs && off.length > 3 && off.length > on.length)
    return [...rule(`live-${level}-off-all`, ["*"], false), ...rule(`live-${level}-on`, on, true)];
  return [...rule(`live-${level}-on`, on, true), ...rule(`live-${level}-off`, off, false)];
}

function literalSchema(schema: LiveSchema): { readonly rules: readonly Draft[]; readonly exceptions: Mutable } {
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
  return { rules: [], exceptions: { enabled: schema.enabled, ...(Object.keys(tables).length === 0 ? {} : { tables }) } };
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
