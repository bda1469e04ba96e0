import { invalid, notFound } from "../http/call.ts";
import type { Behaviour } from "../options.ts";
import type { ColumnEntry, IntegrationRecord, SchemaMap, StoredSchema, TableEntry, Unshown } from "./account.ts";
import { isObject, mapValues, own, type UncheckedObject } from "./own.ts";

/** The map in the form of a response. */
export function shownSchemas(schemas: SchemaMap, { schemaForm, members }: Pick<Behaviour, "schemaForm" | "members">): object {
  if (schemaForm === "snake") return snakeForm(schemas);
  return members === "complete" ? schemas : mapValues(schemas, recordedSchema);
}

/** The columns of one table in the form of a response. */
export function shownColumns({ columns }: TableEntry, { members }: Pick<Behaviour, "members">): object {
  return members === "complete" ? columns : mapValues(columns, withoutUnshown);
}

const recordedSchema = ({ enabled: _, tables, ...schema }: StoredSchema): object => ({
  ...withoutUnshown(schema),
  tables: mapValues(tables, recordedTable),
});

function recordedTable({ isSubtable, columns, syncMode, cursorField, ...table }: TableEntry): object {
  const isCursorShown = cursorField !== undefined && folded(syncMode).startsWith("incremental");
  const shown = {
    ...table,
    enabledPatchSettings: { allowed: isSubtable !== true },
    // Only the first space is replaced.
    syncMode: syncMode.toUpperCase().replace(" ", "_"),
    ...(isCursorShown ? { cursorField } : {}),
  };
  return { ...withoutUnshown(shown), columns: mapValues(columns, withoutUnshown) };
}

/** The entry as responses show it. */
export function withoutUnshown<T extends Unshown>({ unshown, ...entry }: T): object {
  if (unshown === undefined) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !unshown.includes(name)));
}

/** The snake_case form of GET schemas, which has no columns (docs/service-interface.md#schema-configuration). */
function snakeForm(schemas: SchemaMap): object {
  return mapValues(schemas, (schema) => ({
    name_in_destination: schema.nameInDestination,
    enabled: schema.enabled,
    tables: mapValues(schema.tables, (table) => ({
      name_in_destination: table.nameInDestination,
      enabled: table.enabled,
      sync_mode: table.syncMode,
      ...(table.cursorField === undefined ? {} : { cursor_field: table.cursorField }),
    })),
  }));
}

/** What a PATCH of schemas does beyond the interface, or instead of it. */
interface PatchRules {
  /** Throws a refusal; if it returns, the name is skipped. */
  readonly unknown: (level: Level, name: string, where: string) => void;
  readonly isKept: (member: "enabled" | "hashed" | "cursorField", table: TableEntry | undefined, column?: ColumnEntry) => boolean;
  /** Whether the table can be synced in this mode; undefined: modes and cursors are not written. */
  readonly supports?: (mode: string) => boolean;
}

type Level = "schema" | "table" | "column";

const strict: PatchRules = {
  unknown: (_level, name, where) => {
    throw invalid(`${where} has no ${JSON.stringify(name)}.`);
  },
  isKept: () => true,
};

/** Sources whose columns cannot be left out. */
const withoutFieldBlocking = ["google_analytics_4", "stripe"];

function silent({ source, settings }: IntegrationRecord): PatchRules {
  const blocksFields = !withoutFieldBlocking.includes(source.type);
  return {
    unknown: (level, name) => {
      // Streams without a namespace are listed under this name, which is not checked.
      if (level === "schema" && name !== "schema") throw notFound("schema", name);
    },
    isKept: (member, table, column) => {
      if (table?.isSubtable === true || column?.isPrimaryKey === true) return false;
      if (member === "cursorField") return table?.cursorField !== undefined && table.unshown?.includes("cursorField") !== true;
      return member !== "enabled" || column === undefined || blocksFields;
    },
    supports: (mode) => mode === "Full Refresh" || mode.startsWith(incrementalMode(settings.sourceSettings)),
  };
}

/** How the source finds what is new, as the settings of the source say: one of `Incremental`, `Change Stream` and `Change Tracking`. */
function incrementalMode(sourceSettings: UncheckedObject): string {
  const wanted = folded(String(own(sourceSettings, "incremental_mode")));
  return modes.find((mode) => !mode.includes("(") && folded(mode) === wanted && mode !== "Full Refresh") ?? "Incremental";
}

/** The modes that PATCH takes. */
const modes = [
  "Full Refresh",
  "Incremental",
  "Incremental (Append-Only)",
  "Change Stream",
  "Change Tracking",
  "Change Stream (Append-Only)",
  "Change Stream (Initial Snapshot)",
  "Change Stream (No Snapshot)",
];

const folded = (mode: string): string => mode.toLowerCase().replaceAll("_", " ");

/**
 * Applies the `schemas` of a PATCH body to the map of the integration (docs/service-interface.md#schema-configuration): named nodes only,
 * named members only. Everything is checked before anything changes. Throws a 400 for a value of the wrong type. `strict`: also for an
 * unknown schema, table or column; `silent`: a 404 for an unknown schema. Members that the interface does not list are ignored.
 */
export function mergeSchemas(integration: IntegrationRecord, patch: unknown, writes: Behaviour["schemaWrites"]): void {
  const rules = writes === "strict" ? strict : silent(integration);
  const changes: (readonly (() => unknown)[])[] = [];
  for (const [name, schema, change] of named(integration.schemas, patch, { where: "schemas", level: "schema", rules })) {
    changes.push(flags(schema, change, ["enabled"], name));
    const tables = named(schema.tables, change["tables"], { where: `${name}/tables`, level: "table", rules });
    for (const [tableName, table, tableChange] of tables) {
      const where = `${name}/${tableName}`;
      const ofTable = (["enabled"] as const).filter((member) => rules.isKept(member, table));
      changes.push(flags(table, tableChange, ofTable, where), syncing(table, tableChange, rules, where));
      const columns = named(table.columns, tableChange["columns"], { where: `${where}/columns`, level: "column", rules });
      for (const [columnName, column, columnChange] of columns) {
        const ofColumn = (["enabled", "hashed"] as const).filter((member) => rules.isKept(member, table, column));
        changes.push(flags(column, columnChange, ofColumn, `${where}/${columnName}`));
      }
    }
  }
  for (const change of changes.flat()) change();
}

interface Place {
  readonly where: string;
  readonly level: Level;
  readonly rules: PatchRules;
}

/** Pairs each named node of the patch with the live one. An absent patch contains none. */
function* named<T extends StoredSchema | TableEntry | ColumnEntry>(
  live: Readonly<Record<string, T>>,
  patch: unknown,
  { where, level, rules }: Place,
): Generator<readonly [string, T, UncheckedObject]> {
  if (patch === undefined) return;
  if (!isObject(patch)) throw invalid(`${where} must be an object.`);
  for (const [name, change] of Object.entries(patch)) {
    const node = own(live, name);
    if (node === undefined) {
      rules.unknown(level, name, where);
      continue;
    }
    if (!isObject(change)) throw invalid(`${where}/${name} must be an object.`);
    yield [name, node, change];
  }
}

function flags<F extends string>(
  node: { [K in F]: boolean },
  change: UncheckedObject,
  names: readonly F[],
  where: string,
): (() => unknown)[] {
  return names.flatMap((name) => {
    const value = own(change, name);
    if (value === undefined) return [];
    if (typeof value !== "boolean") throw invalid(`${where}: ${name} must be true or false.`);
    return [() => Object.assign(node, { [name]: value })];
  });
}

/** The sync mode and the cursor. A mode that the source does not support is not kept; any other text is refused. */
function syncing(table: TableEntry, change: UncheckedObject, { supports, isKept }: PatchRules, where: string): (() => void)[] {
  if (supports === undefined) return [];
  const changes: (() => void)[] = [];
  const [wanted, cursorField] = [own(change, "syncMode"), own(change, "cursorField")];
  if (wanted !== undefined) {
    const mode = modes.find((known) => known === wanted);
    if (mode === undefined) throw invalid(`${where}: syncMode must be one of ${modes.join(", ")}.`);
    if (supports(mode) && table.isSubtable !== true) changes.push(() => Object.assign(table, { syncMode: mode }));
  }
  if (cursorField !== undefined) {
    if (typeof cursorField !== "string") throw invalid(`${where}: cursorField must be a string.`);
    if (isKept("cursorField", table) && own(table.columns, cursorField) !== undefined)
      changes.push(() => Object.assign(table, { cursorField }));
  }
  return changes;
}
