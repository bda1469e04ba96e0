import { emptyRecord, type JsonObject, type JsonValue, own } from "../../model/json.ts";
import type { LiveColumn, LiveSchemas } from "../../model/live.ts";
import type { Observed } from "../../model/plan.ts";
import { type Pointer, toPointer } from "../../model/pointer.ts";
import type { PlannedRequest } from "../../model/service.ts";
import { urlPath } from "../../model/url-path.ts";
import { type Field, type NodeChange, type NodePath, nodePointer } from "./tree.ts";

/**
 * The changes as PATCH bodies (interface §4.3, product §3.3): changed nodes and their ancestors, nothing else. The interface names `enabled`,
 * `tables`, `columns` and `hashed` as what an entry has and does not say that any may be left out, so every entry has all of them: unchanged
 * values repeat what is live when that body is sent, and a map without changed members is sent empty. Where some changes protect and others
 * expose, the protecting ones go first, in a body of their own.
 *
 * A body of more than `maxBodyBytes` is split, since servers and the proxies before them refuse bodies of some size (often 10 MB), and the
 * interface names no limit (§8; `client.maxBodyBytes` is a person's word for it). It is split between tables only: one table is always changed by one call, however large.
 */
export function patches(
  integrationId: string,
  changes: readonly NodeChange[],
  live: LiveSchemas,
  maxBodyBytes = 8 * 1024 * 1024,
): readonly PlannedRequest[] {
  const exposing = changes.filter(({ risk }) => risk === "exposes");
  const others = changes.filter(({ risk }) => risk !== "exposes");
  const path = urlPath(["v1", "integrations", integrationId, "schemas"]);
  // A body of the second kind repeats what the first kind left behind; one that comes later, what those before it did to shared ancestors.
  return [...bodies(others, others, live, maxBodyBytes), ...bodies(exposing, changes, live, maxBodyBytes)].map((body) => ({
    method: "PATCH",
    path,
    body,
  }));
}

function bodies(send: readonly NodeChange[], done: readonly NodeChange[], live: LiveSchemas, maxBytes: number): readonly JsonObject[] {
  if (send.length === 0) return [];
  const whole = makeBody(send, done, live);
  if (bytesOf(whole) <= maxBytes) return [whole];
  const byTable = new Map<Pointer, NodeChange[]>();
  for (const change of send) {
    const [schema, table] = change.path;
    const pointer = nodePointer(table === undefined ? [schema] : [schema, table]);
    const known = byTable.get(pointer);
    if (known === undefined) byTable.set(pointer, [change]);
    else known.push(change);
  }
  const parts: NodeChange[][] = [];
  let room = 0;
  for (const ofTable of byTable.values()) {
    const bytes = bytesOf(makeBody(ofTable, done, live));
    const part = parts.at(-1);
    if (part === undefined || bytes > room) {
      parts.push([...ofTable]);
      room = maxBytes - bytes;
    } else {
      for (const change of ofTable) part.push(change);
      room -= bytes;
    }
  }
  return parts.map((part) => makeBody(part, done, live));
}

const bytesOf = (body: JsonObject): number => Buffer.byteLength(JSON.stringify(body));

interface Draft {
  enabled: boolean;
  hashed?: boolean;
  tables?: Record<string, Draft>;
  columns?: Record<string, Draft>;
}

function makeBody(changes: readonly NodeChange[], done: readonly NodeChange[], live: LiveSchemas): JsonObject {
  const after = new Map<Pointer, boolean>(done.map(({ path, key, after: value }) => [nodePointer(path, key), value]));
  const current = (path: NodePath, key: Field, before: boolean | undefined): boolean =>
    after.get(nodePointer(path, key)) ?? before ?? false;
  const schemas = emptyRecord<Draft>();
  for (const { path } of changes) {
    const [schema, table, column] = path;
    const liveSchema = own(live, schema);
    const schemaDraft = memberOf(schemas, schema, () => ({
      enabled: current([schema], "enabled", liveSchema?.enabled),
      tables: emptyRecord(),
    }));
    if (table === undefined || schemaDraft.tables === undefined) continue;
    const liveTable = own(liveSchema?.tables, table);
    const tableDraft = memberOf(schemaDraft.tables, table, () => ({
      enabled: current([schema, table], "enabled", liveTable?.enabled),
      columns: emptyRecord(),
    }));
    if (column === undefined || tableDraft.columns === undefined) continue;
    const liveColumn = own(liveTable?.columns, column);
    tableDraft.columns[column] ??= {
      enabled: current(path, "enabled", liveColumn?.enabled),
      hashed: current(path, "hashed", liveColumn?.hashed),
    };
  }
  return { schemas: schemas as unknown as JsonValue };
}

function memberOf(drafts: Record<string, Draft>, name: string, make: () => Draft): Draft {
  const known = own(drafts, name) ?? make();
  drafts[name] = known;
  return known;
}

/** The bodies that `patches` made, seen as what they are. */
const draftsIn = (sent: JsonObject): Readonly<Record<string, Draft>> =>
  (sent["schemas"] ?? {}) as unknown as Readonly<Record<string, Draft>>;

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
      for (const table of Object.keys(tables))
        if (Object.keys(own(tables, table)?.columns ?? {}).length > 0) touched.set(toPointer([schema, table]), [schema, table]);
    }
  }
  return [...touched.values()];
}

/**
 * Leaves that were read before a PATCH and are different, or gone, in its answer, beside the ones that were sent. Nodes that appear meanwhile
 * were discovered by the service, not changed by the call; columns that either reading leaves out are unknown, not different.
 */
export function unintendedChanges(before: LiveSchemas, after: LiveSchemas, sent: ReadonlySet<Pointer>): readonly Pointer[] {
  const found: Pointer[] = [];
  const compare = <T extends object>(path: NodePath, was: T, is: T | undefined, keys: readonly (keyof T & string)[]): void => {
    for (const key of keys) {
      if (was[key] === is?.[key] || was[key] === undefined) continue;
      const pointer = nodePointer(path, key);
      if (!sent.has(pointer)) found.push(pointer);
    }
  };
  for (const schema of Object.keys(before)) {
    const was = own(before, schema);
    const is = own(after, schema);
    if (was === undefined) continue;
    compare([schema], was, is, ["enabled", "nameInDestination"]);
    for (const table of Object.keys(was.tables)) {
      const wasTable = own(was.tables, table);
      const isTable = own(is?.tables, table);
      if (wasTable === undefined) continue;
      compare([schema, table], wasTable, isTable, ["enabled", "nameInDestination", "syncMode", "cursorField"]);
      if (wasTable.columns === undefined || isTable?.columns === undefined) continue;
      for (const column of Object.keys(wasTable.columns)) {
        const wasColumn = own<LiveColumn>(wasTable.columns, column);
        if (wasColumn !== undefined)
          compare([schema, table, column], wasColumn, own<LiveColumn>(isTable.columns, column), [
            "enabled",
            "hashed",
            "nameInDestination",
            "isPrimaryKey",
          ]);
      }
    }
  }
  return found;
}
