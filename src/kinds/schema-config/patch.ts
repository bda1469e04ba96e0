import { emptyRecord, type JsonObject, type JsonValue, own } from "../../model/json/json.ts";
import type { PackedLeaves } from "../../model/json/packed-leaves.ts";
import { type Pointer, urlPath } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { bodyOf } from "../../model/packed-item.ts";
import type { SchemaTree } from "../../model/resource.ts";
import type { PlannedRequest } from "../../model/service.ts";
import type { NodeChange } from "./evaluation.ts";
import { newNodeLeaves } from "./node-leaves.ts";
import { type NodePath, nodePointer, type TablePath, walk } from "./tree.ts";

/** Used if `client.maxBodyBytes` is not set. */
const defaultMaxBytes = 8 * 1024 * 1024;

/** A request, and its body as JSON. */
export interface Patch {
  readonly request: PlannedRequest;
  readonly text: string;
}

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
): readonly Patch[] {
  const exposing = changes.filter(({ risk }) => risk === "exposes");
  const others = changes.filter(({ risk }) => risk !== "exposes");
  const path = urlPath(["v1", "integrations", integrationId, "schemas"]);
  // An exposing body repeats the values that the protecting ones have set, and shared ancestors those of all bodies before.
  return [
    ...bodies(others, { done: others, live, maxBytes: maxBodyBytes }),
    ...bodies(exposing, { done: changes, live, maxBytes: maxBodyBytes }),
  ].map(({ body, text }) => ({ request: { method: "PATCH", path, body }, text }));
}

interface BodyOptions {
  /** The changes that are in effect after the body: its own, and those sent before. */
  readonly done: readonly NodeChange[];
  readonly live: LiveSchemas;
  readonly maxBytes: number;
}

interface Body {
  readonly body: JsonObject;
  readonly text: string;
}

function bodies(send: readonly NodeChange[], { done, live, maxBytes }: BodyOptions): readonly Body[] {
  if (send.length === 0) return [];
  const after = valuesAfter(done);
  const whole = makeBody(send, after, live);
  if (Buffer.byteLength(whole.text) <= maxBytes) return [whole];
  const parts: NodeChange[][] = [];
  let bytesLeft = 0;
  for (const ofTable of byTable(send)) {
    const bytes = Buffer.byteLength(makeBody(ofTable, after, live).text);
    const part = parts.at(-1);
    if (part === undefined || bytes > bytesLeft) {
      parts.push([...ofTable]);
      bytesLeft = maxBytes - bytes;
    } else {
      for (const change of ofTable) part.push(change);
      bytesLeft -= bytes;
    }
  }
  return parts.map((part) => makeBody(part, after, live));
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

/** The new values of a node and of those below it, by name. */
interface ValuesAfter {
  enabled?: boolean;
  hashed?: boolean;
  below?: Map<string, ValuesAfter>;
}

function valuesAfter(changes: readonly NodeChange[]): ValuesAfter {
  const root: ValuesAfter = {};
  for (const { path, key, after } of changes) {
    let node = root;
    for (const name of path) {
      if (name === undefined) break;
      node.below ??= new Map();
      const known: ValuesAfter = node.below.get(name) ?? {};
      node.below.set(name, known);
      node = known;
    }
    node[key] = after;
  }
  return root;
}

interface Draft {
  enabled: boolean;
  hashed?: boolean;
  tables?: Record<string, Draft>;
  columns?: Record<string, Draft>;
}

function makeBody(changes: readonly NodeChange[], after: ValuesAfter, live: LiveSchemas): Body {
  const schemas = emptyRecord<Draft>();
  for (const {
    path: [schema, table, column],
  } of changes) {
    const liveSchema = own(live, schema);
    const ofSchema = after.below?.get(schema);
    const schemaDraft = draftIn(schemas, schema, () => ({
      enabled: ofSchema?.enabled ?? liveSchema?.enabled ?? false,
      tables: emptyRecord(),
    }));
    if (table === undefined || schemaDraft.tables === undefined) continue;
    const liveTable = own(liveSchema?.tables, table);
    const ofTable = ofSchema?.below?.get(table);
    const tableDraft = draftIn(schemaDraft.tables, table, () => ({
      enabled: ofTable?.enabled ?? liveTable?.enabled ?? false,
      columns: emptyRecord(),
    }));
    if (column === undefined || tableDraft.columns === undefined) continue;
    const liveColumn = own(liveTable?.columns, column);
    const ofColumn = ofTable?.below?.get(column);
    tableDraft.columns[column] ??= {
      enabled: ofColumn?.enabled ?? liveColumn?.enabled ?? false,
      hashed: ofColumn?.hashed ?? liveColumn?.hashed ?? false,
    };
  }
  // Drafts are JSON, although their type does not say so.
  const body: JsonObject = { schemas: schemas as unknown as JsonValue };
  return { body, text: JSON.stringify(body) };
}

function draftIn(drafts: Record<string, Draft>, name: string, make: () => Draft): Draft {
  const known = own(drafts, name) ?? make();
  drafts[name] = known;
  return known;
}

/** The bodies that `patches` has made. */
const treeIn = (body: JsonObject): SchemaTree => (body["schemas"] ?? {}) as SchemaTree;

/** The live value of every leaf that the bodies send. */
export function observedBy(requests: readonly PlannedRequest[], live: LiveSchemas): PackedLeaves<JsonValue> {
  const leaves = newNodeLeaves<JsonValue>();
  // Bodies can have ancestors and columns in common.
  const seen = new Set<Pointer>();
  const isNew = (path: NodePath): boolean => {
    if (requests.length === 1) return true;
    const pointer = nodePointer(path);
    return !seen.has(pointer) && seen.add(pointer).has(pointer);
  };
  for (const { body } of requests)
    walk(treeIn(body), {
      schema(_, path) {
        const node = own(live, path[0]);
        if (node !== undefined && isNew(path)) leaves.add(path, "enabled", node.enabled);
        return node !== undefined;
      },
      table(_, path) {
        const node = own(own(live, path[0])?.tables, path[1]);
        if (node !== undefined && isNew(path)) leaves.add(path, "enabled", node.enabled);
        return node !== undefined;
      },
      column(_, path) {
        const node = own(own(own(live, path[0])?.tables, path[1])?.columns, path[2]);
        if (node === undefined || !isNew(path)) return;
        leaves.add(path, "enabled", node.enabled);
        leaves.add(path, "hashed", node.hashed);
      },
    });
  return leaves.packed();
}

/** The tables in which the bodies change columns. */
export function tablesTouched(requests: readonly PlannedRequest[]): readonly TablePath[] {
  const touched = new Map<Pointer, TablePath>();
  for (const request of requests)
    walk(treeIn(bodyOf(request)), { column: (_, [schema, table]) => touched.set(nodePointer([schema, table]), [schema, table]) });
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
