import { own } from "../../model/json.ts";
import type { LiveColumn, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { DraftChange, Risk } from "../../model/plan.ts";
import { toPointer } from "../../model/pointer.ts";
import type { Problem } from "../../model/problem.ts";
import { type ColumnTree, placeIn, type Resource, type SchemaConfigSpec } from "../../model/resource.ts";
import { didYouMean } from "../../model/suggest.ts";

// What the configurations of one integration make of its live schemas. The walk follows the live tree, asks each layer in turn what it says of
// a node (later layers win, field by field), and allocates only where something differs: a fleet has millions of columns and few differences.

type Cause = NonNullable<DraftChange["cause"]>;

/** One boolean of one node that is to change. `path` holds schema, table and column names, as deep as the node is. */
export interface NodeChange {
  readonly path: readonly [schema: string, table?: string, column?: string];
  readonly key: "enabled" | "hashed";
  readonly before: boolean;
  readonly after: boolean;
  readonly risk: Risk;
  readonly cause: Cause;
}

export interface Evaluation {
  readonly changes: readonly NodeChange[];
  readonly problems: readonly Problem[];
  /** Literal names that the live tree lacks, whatever `missing` makes of them. */
  readonly missing: number;
  /** Live columns that nothing covers. */
  readonly unmanagedColumns: number;
  /** Columns that would flow, or flow in clear, after the changes and do not now. */
  readonly exposedColumns: number;
}

type Layer = Resource<SchemaConfigSpec>;

const riskOf = (key: "enabled" | "hashed", after: boolean): Risk => ((key === "hashed") === after ? "protects" : "exposes");

export function evaluate(layers: readonly Layer[], live: LiveSchemas): Evaluation {
  const changes: NodeChange[] = [];
  const problems: Problem[] = [];
  let unmanagedColumns = 0;
  let exposedColumns = 0;

  const decide = (path: NodeChange["path"], key: NodeChange["key"], before: boolean, said: readonly (ColumnTree | undefined)[]): boolean => {
    for (let index = said.length - 1; index >= 0; index--) {
      const after = said[index]?.[key];
      if (after === undefined) continue;
      const layer = layers[index];
      if (after !== before && layer !== undefined) changes.push({ path, key, before, after, risk: riskOf(key, after), cause: { place: placeIn(layer, literalPointer(path, key)) } });
      return after;
    }
    return before;
  };

  for (const schema of Object.keys(live)) {
    const liveSchema = own(live, schema);
    if (liveSchema === undefined) continue;
    const schemaSays = layers.map(({ spec }) => own(spec.schemas, schema));
    const schemaOn = decide([schema], "enabled", liveSchema.enabled, schemaSays);
    for (const table of Object.keys(liveSchema.tables)) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) continue;
      const tableSays = schemaSays.map((says) => own(says?.tables, table));
      const tableOn = decide([schema, table], "enabled", liveTable.enabled, tableSays);
      const columns = liveTable.columns;
      const flows = schemaOn && tableOn;
      const flowed = liveSchema.enabled && liveTable.enabled;
      if (columns === undefined) {
        if (flows && !flowed) exposedColumns++;
        continue;
      }
      const columnSays = tableSays.map((says) => says?.columns);
      const covered = columnSays.some((says) => says !== undefined);
      for (const column of Object.keys(columns)) {
        const liveColumn = own(columns, column);
        if (liveColumn === undefined) continue;
        let on = liveColumn.enabled;
        let hashed = liveColumn.hashed;
        let says: readonly (ColumnTree | undefined)[] | undefined;
        if (covered) {
          says = columnSays.map((tree) => own(tree, column));
          on = decide([schema, table, column], "enabled", liveColumn.enabled, says);
          hashed = decide([schema, table, column], "hashed", liveColumn.hashed, says);
          if (liveColumn.enabled && !on) refuse(changes, problems, liveTable, liveColumn, column);
        }
        if (says === undefined || says.every((said) => said === undefined)) unmanagedColumns++;
        const clear = flows && on && !hashed;
        const wasClear = flowed && liveColumn.enabled && !liveColumn.hashed;
        const appears = flows && on && !(flowed && liveColumn.enabled);
        if ((clear && !wasClear) || appears) exposedColumns++;
      }
    }
  }
  const missing = reportMissing(layers, live, problems);
  return { changes, problems, missing, unmanagedColumns, exposedColumns };
}

export const literalPointer = ([schema, table, column]: NodeChange["path"], key: string): string =>
  toPointer(["spec", "schemas", schema, ...(table === undefined ? [] : ["tables", table]), ...(column === undefined ? [] : ["columns", column]), key]);

/** Switching off the primary key or the cursor would end the replication of the table (product §2.4.4). */
function refuse(changes: readonly NodeChange[], problems: Problem[], table: LiveTable, column: LiveColumn, name: string): void {
  const role = column.isPrimaryKey === true ? "primary key" : table.cursorField === name ? "cursor" : undefined;
  const change = changes.findLast(({ key }) => key === "enabled");
  if (role === undefined || change === undefined) return;
  problems.push({
    code: role === "cursor" ? "E_DISABLES_CURSOR" : "E_DISABLES_PRIMARY_KEY",
    severity: "error",
    summary: `Disables a ${role} column`,
    message: `Column ${JSON.stringify(name)} is the ${role} of table ${JSON.stringify(change.path[1])}; without it the table can't be replicated. Hash it, or disable the table instead.`,
    place: change.cause.place,
  });
}

/** Names in the literal trees that the account does not have (product §2.4.5). */
function reportMissing(layers: readonly Layer[], live: LiveSchemas, problems: Problem[]): number {
  let count = 0;
  for (const layer of layers) {
    const severity = layer.spec.missing === "warn" ? "warning" : "error";
    const report = (what: string, path: NodeChange["path"], known: object): void => {
      count++;
      if (layer.spec.missing === "ignore") return;
      const name = path.at(-1) ?? "";
      problems.push({
        code: severity === "error" ? "E_MISSING_NAME" : "W_MISSING_NAME",
        severity,
        summary: `Unknown ${what}`,
        message: `The integration has no ${what} ${JSON.stringify(name)}${path.length > 1 ? ` in ${path.slice(0, -1).join(".")}` : ""}.${didYouMean(name, Object.keys(known))} Correct the name, or set spec.missing to warn or ignore.`,
        place: { ...placeIn(layer, literalPointer(path, "").slice(0, -1), "key") },
        address: layer.address,
      });
    };
    for (const schema of Object.keys(layer.spec.schemas ?? {})) {
      const liveSchema = own(live, schema);
      if (liveSchema === undefined) {
        report("schema", [schema], live);
        continue;
      }
      const tables = own(layer.spec.schemas, schema)?.tables ?? {};
      for (const table of Object.keys(tables)) {
        const liveTable = own(liveSchema.tables, table);
        if (liveTable === undefined) {
          report("table", [schema, table], liveSchema.tables);
          continue;
        }
        if (liveTable.columns === undefined) continue;
        for (const column of Object.keys(own(tables, table)?.columns ?? {})) if (!Object.hasOwn(liveTable.columns, column)) report("column", [schema, table, column], liveTable.columns);
      }
    }
  }
  return count;
}

/** Tables whose columns the layers speak of although the answer had none, and that are or will be enabled: the only ones whose columns are read (product §3.1). */
export function tablesToRead(layers: readonly Layer[], live: LiveSchemas): readonly (readonly [schema: string, table: string])[] {
  const wanted: (readonly [string, string])[] = [];
  for (const schema of Object.keys(live)) {
    const tables = own(live, schema)?.tables ?? {};
    for (const table of Object.keys(tables)) {
      const liveTable = own(tables, table);
      if (liveTable === undefined || liveTable.columns !== undefined) continue;
      const says = layers.map(({ spec }) => own(own(spec.schemas, schema)?.tables, table));
      const on = says.reduce((before, said) => said?.enabled ?? before, liveTable.enabled);
      if (on && says.some((said) => said?.columns !== undefined && Object.keys(said.columns).length > 0)) wanted.push([schema, table]);
    }
  }
  return wanted;
}
