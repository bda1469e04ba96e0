import { emptyRecord, type JsonObject, type JsonValue, own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Observed } from "../../model/plan.ts";
import { type Pointer, toPointer } from "../../model/pointer.ts";
import type { PlannedRequest } from "../../model/service.ts";
import { urlPath } from "../../model/url-path.ts";
import type { NodeChange } from "./evaluate.ts";

/**
 * The changes as PATCH bodies (interface §4.3, product §3.3): changed nodes and their ancestors, nothing else. The interface names `enabled`,
 * `tables`, `columns` and `hashed` as what an entry has and does not say that any may be left out, so every entry has all of them: unchanged
 * values repeat what is live when that body is sent, and a map without changed members is sent empty. Where some changes protect and others
 * expose, the protecting ones go first, in a body of their own.
 */
export function patches(integrationId: string, changes: readonly NodeChange[], live: LiveSchemas): readonly PlannedRequest[] {
  const exposing = changes.filter(({ risk }) => risk === "exposes");
  const others = changes.filter(({ risk }) => risk !== "exposes");
  const path = urlPath(["v1", "integrations", integrationId, "schemas"]);
  // The second body repeats what the first one left behind.
  const bodies = [
    { send: others, done: others },
    { send: exposing, done: changes },
  ];
  return bodies.filter(({ send }) => send.length > 0).map(({ send, done }) => ({ method: "PATCH", path, body: body(send, done, live) }));
}

interface Draft {
  enabled: boolean;
  hashed?: boolean;
  tables?: Record<string, Draft>;
  columns?: Record<string, Draft>;
}

function body(changes: readonly NodeChange[], done: readonly NodeChange[], live: LiveSchemas): JsonObject {
  const after = new Map<Pointer, boolean>(done.map(({ path, key, after: value }) => [nodePointer(path, key), value]));
  const current = (path: NodeChange["path"], key: NodeChange["key"], before: boolean | undefined): boolean => after.get(nodePointer(path, key)) ?? before ?? false;
  const schemas = emptyRecord<Draft>();
  for (const { path } of changes) {
    const [schema, table, column] = path;
    const liveSchema = own(live, schema);
    const schemaDraft = (schemas[schema] ??= { enabled: current([schema], "enabled", liveSchema?.enabled), tables: emptyRecord() });
    if (table === undefined || schemaDraft.tables === undefined) continue;
    const liveTable = own(liveSchema?.tables, table);
    const tableDraft = (schemaDraft.tables[table] ??= { enabled: current([schema, table], "enabled", liveTable?.enabled), columns: emptyRecord() });
    if (column === undefined || tableDraft.columns === undefined) continue;
    const liveColumn = own(liveTable?.columns, column);
    tableDraft.columns[column] ??= { enabled: current(path, "enabled", liveColumn?.enabled), hashed: current(path, "hashed", liveColumn?.hashed) };
  }
  return { schemas: schemas as unknown as JsonValue };
}

/** The bodies that `patches` made, seen as what they are. */
const draftsIn = (sent: JsonObject): Readonly<Record<string, Draft>> => (sent["schemas"] ?? {}) as unknown as Readonly<Record<string, Draft>>;

/** "/schemas/public/tables/users/columns/email/hashed" */
export function nodePointer([schema, table, column]: NodeChange["path"], key: string): Pointer {
  return toPointer(["schemas", schema, ...(table === undefined ? [] : ["tables", table]), ...(column === undefined ? [] : ["columns", column]), key]);
}

/** The live value of every leaf that the bodies send: what the item touches. */
export function observedBy(requests: readonly PlannedRequest[], live: LiveSchemas): Observed {
  const observed: Record<Pointer, JsonValue> = {};
  for (const { body: sent } of requests) {
    const schemas = draftsIn(sent);
    for (const schema of Object.keys(schemas)) {
      const liveSchema = own(live, schema);
      if (liveSchema === undefined) continue;
      observed[nodePointer([schema], "enabled")] = liveSchema.enabled;
      const tables = own(schemas, schema)?.tables ?? {};
      for (const table of Object.keys(tables)) {
        const liveTable = own(liveSchema.tables, table);
        if (liveTable === undefined) continue;
        observed[nodePointer([schema, table], "enabled")] = liveTable.enabled;
        for (const column of Object.keys(own(tables, table)?.columns ?? {})) {
          const liveColumn = own(liveTable.columns, column);
          if (liveColumn === undefined) continue;
          observed[nodePointer([schema, table, column], "enabled")] = liveColumn.enabled;
          observed[nodePointer([schema, table, column], "hashed")] = liveColumn.hashed;
        }
      }
    }
  }
  return observed;
}

/** The tables in whose columns the bodies change something. */
export function tablesTouched(requests: readonly PlannedRequest[]): readonly (readonly [schema: string, table: string])[] {
  const touched = new Map<string, readonly [string, string]>();
  for (const { body: sent } of requests) {
    const schemas = draftsIn(sent);
    for (const schema of Object.keys(schemas)) {
      const tables = own(schemas, schema)?.tables ?? {};
      for (const table of Object.keys(tables)) if (Object.keys(own(tables, table)?.columns ?? {}).length > 0) touched.set(toPointer([schema, table]), [schema, table]);
    }
  }
  return [...touched.values()];
}
