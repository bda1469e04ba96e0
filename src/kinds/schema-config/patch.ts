import { emptyRecord, type JsonObject, type JsonValue, own } from "../../model/json/json.ts";
import type { Pointer } from "../../model/json/pointer.ts";
import { urlPath } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Observed } from "../../model/plan.ts";
import type { SchemaTree } from "../../model/resource.ts";
import type { PlannedRequest } from "../../model/service.ts";
import type { NodeChange } from "./evaluation.ts";
import { type Field, type NodePath, nodePointer, type TablePath, walk } from "./tree.ts";

/** Used if `client.maxBodyBytes` is not set. */
const defaultMaxBytes = 8 * 1024 * 1024;

/**
 * The changes as PATCH requests. A body has the changed nodes and their ancestors, nothing else. docs/service-interface.md
 * does not say that `enabled`, `tables`, `columns` or `hashed` may be omitted, so every entry has all of them: unchanged
 * values repeat the live ones, and maps without changed members are empty. If some changes protect and others expose, the
 * protecting ones are sent first, in a request of their own.
 *
 * A body that is larger than `maxBodyBytes` is split between tables, never within one, because servers and proxies limit
 * body sizes (often to 10 MB) and the interface names no limit.
 */
export function patches(
  integrationId: string,
  changes: readonly NodeChange[],
  live: LiveSchemas,
  maxBodyBytes = defaultMaxBytes,
): readonly PlannedRequest[] {
  const exposing = changes.filter(({ risk }) => risk === "exposes");
  const others = changes.filter(({ risk }) => risk !== "exposes");
  const path = urlPath(["v1", "integrations", integrationId, "schemas"]);
  // An exposing body repeats the values that the protecting ones have set, and shared ancestors those of all bodies before.
  return [
    ...bodies(others, { done: others, live, maxBytes: maxBodyBytes }),
    ...bodies(exposing, { done: changes, live, maxBytes: maxBodyBytes }),
  ].map((body) => ({
    method: "PATCH",
    path,
    body,
  }));
}

interface BodyOptions {
  /** The changes that are in effect after the body: its own, and those sent before. */
  readonly done: readonly NodeChange[];
  readonly live: LiveSchemas;
  readonly maxBytes: number;
}

function bodies(send: readonly NodeChange[], { done, live, maxBytes }: BodyOptions): readonly JsonObject[] {
  if (send.length === 0) return [];
  const whole = makeBody(send, done, live);
  if (bytesOf(whole) <= maxBytes) return [whole];
  const parts: NodeChange[][] = [];
  let bytesLeft = 0;
  for (const ofTable of byTable(send)) {
    const bytes = bytesOf(makeBody(ofTable, done, live));
    const part = parts.at(-1);
    if (part === undefined || bytes > bytesLeft) {
      parts.push([...ofTable]);
      bytesLeft = maxBytes - bytes;
    } else {
      for (const change of ofTable) part.push(change);
      bytesLeft -= bytes;
    }
  }
  return parts.map((part) => makeBody(part, done, live));
}

function byTable(changes: readonly NodeChange[]): Iterable<readonly NodeChange[]> {
  const groups = new Map<Pointer, NodeChange[]>();
  for (const change of changes) {
    const [schema, table] = change.path;
    const pointer = nodePointer(table === undefined ? [schema] : [schema, table]);
    const known = groups.get(pointer);
    if (known === undefined) groups.set(pointer, [change]);
    else known.push(change);
  }
  return groups.values();
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
    const schemaDraft = draftIn(schemas, schema, () => ({
      enabled: current([schema], "enabled", liveSchema?.enabled),
      tables: emptyRecord(),
    }));
    if (table === undefined || schemaDraft.tables === undefined) continue;
    const liveTable = own(liveSchema?.tables, table);
    const tableDraft = draftIn(schemaDraft.tables, table, () => ({
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
  // Drafts are JSON, although their type does not say so.
  return { schemas: schemas as unknown as JsonValue };
}

function draftIn(drafts: Record<string, Draft>, name: string, make: () => Draft): Draft {
  const known = own(drafts, name) ?? make();
  drafts[name] = known;
  return known;
}

/** The bodies that `patches` has made. */
const treeIn = (body: JsonObject): SchemaTree => (body["schemas"] ?? {}) as SchemaTree;

/** The live value of every leaf that the bodies send. */
export function observedBy(requests: readonly PlannedRequest[], live: LiveSchemas): Observed {
  const observed: Record<Pointer, JsonValue> = {};
  for (const { body } of requests)
    walk(treeIn(body), {
      schema(_, path) {
        const node = own(live, path[0]);
        if (node !== undefined) observed[nodePointer(path, "enabled")] = node.enabled;
        return node !== undefined;
      },
      table(_, path) {
        const node = own(own(live, path[0])?.tables, path[1]);
        if (node !== undefined) observed[nodePointer(path, "enabled")] = node.enabled;
        return node !== undefined;
      },
      column(_, path) {
        const node = own(own(own(live, path[0])?.tables, path[1])?.columns, path[2]);
        if (node === undefined) return;
        observed[nodePointer(path, "enabled")] = node.enabled;
        observed[nodePointer(path, "hashed")] = node.hashed;
      },
    });
  return observed;
}

/** The tables in which the bodies change columns. */
export function tablesTouched(requests: readonly PlannedRequest[]): readonly TablePath[] {
  const touched = new Map<Pointer, TablePath>();
  for (const { body } of requests)
    walk(treeIn(body), { column: (_, [schema, table]) => touched.set(nodePointer([schema, table]), [schema, table]) });
  return [...touched.values()];
}

/**
 * Leaves that were read before a PATCH and that its response shows with another value or not at all, except those that
 * were sent. Nodes that are new in the response were discovered by the service, not changed by the request. Columns that
 * one of the readings leaves out are unknown, not different.
 */
export function unintendedChanges(before: LiveSchemas, after: LiveSchemas, sent: ReadonlySet<Pointer>): readonly Pointer[] {
  const found: Pointer[] = [];
  const compare = <T extends object>(path: NodePath, [was, is]: readonly [T, T | undefined], keys: readonly (keyof T & string)[]): void => {
    for (const key of keys) {
      if (was[key] === is?.[key] || was[key] === undefined) continue;
      const pointer = nodePointer(path, key);
      if (!sent.has(pointer)) found.push(pointer);
    }
  };
  walk(before, {
    schema(was, path) {
      compare(path, [was, own(after, path[0])], ["enabled", "nameInDestination"]);
    },
    table(was, path) {
      const is = own(own(after, path[0])?.tables, path[1]);
      compare(path, [was, is], ["enabled", "nameInDestination", "syncMode", "cursorField"]);
      return is?.columns !== undefined;
    },
    column(was, path) {
      const is = own(own(own(after, path[0])?.tables, path[1])?.columns, path[2]);
      compare(path, [was, is], ["enabled", "hashed", "nameInDestination", "isPrimaryKey"]);
    },
  });
  return found;
}
