import { type JsonObject, type JsonValue, own, setOwn } from "../../model/json/json.ts";
import { type Pointer, urlPath } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { nodePointer } from "../../model/nodes.ts";
import type { SchemaTree } from "../../model/resource.ts";
import { type TablePath, walk } from "../../model/schema-tree.ts";
import type { PlannedRequest } from "../../model/service.ts";
import type { NodeChange } from "./evaluation.ts";

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
  ].map((body) => ({ method: "PATCH", path, body }));
}

interface BodyOptions {
  /** The changes that are in effect after the body: its own, and those sent before. */
  readonly done: readonly NodeChange[];
  readonly live: LiveSchemas;
  readonly maxBytes: number;
}

function bodies(send: readonly NodeChange[], { done, live, maxBytes }: BodyOptions): readonly JsonObject[] {
  if (send.length === 0) return [];
  const after = valuesAfter(done);
  if (mostBytes(send) <= maxBytes) return [bodyOf(draftsOf(send, after, live))];
  const parts: Drafts[] = [];
  let bytesLeft = 0;
  for (const ofTable of byTable(send)) {
    const drafts = draftsOf(ofTable, after, live);
    const bytes = Buffer.byteLength(JSON.stringify(bodyOf(drafts)));
    const part = parts.at(-1);
    if (part === undefined || bytes > bytesLeft) {
      parts.push(drafts);
      bytesLeft = maxBytes - bytes;
    } else {
      addTables(part, drafts);
      bytesLeft -= bytes;
    }
  }
  return parts.map(bodyOf);
}

/** At least the size of the body, so that most bodies need not be printed to know that they fit. */
function mostBytes(changes: readonly NodeChange[]): number {
  // What is printed around a name is shorter, and a UTF-16 unit of a name has at most six bytes.
  const aroundName = 64;
  let units = 0;
  for (const { path } of changes) for (const name of path) units += (name ?? "").length;
  return aroundName * 3 * changes.length + units * 6;
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

type Drafts = Record<string, Draft>;

interface Draft {
  readonly enabled: boolean;
  readonly hashed?: boolean;
  readonly tables?: Drafts;
  columns?: Drafts;
}

// Drafts are JSON, although their type does not say so.
const bodyOf = (schemas: Drafts): JsonObject => ({ schemas: schemas as unknown as JsonValue });

/** Columns have few different values, so that millions of them need not be objects of their own. */
const columnDraft = ({ enabled, hashed }: { readonly enabled: boolean; readonly hashed: boolean }): Draft =>
  enabled ? (hashed ? on.hashed : on.plain) : hashed ? off.hashed : off.plain;
const on = { hashed: { enabled: true, hashed: true }, plain: { enabled: true, hashed: false } } as const;
const off = { hashed: { enabled: false, hashed: true }, plain: { enabled: false, hashed: false } } as const;

function draftsOf(changes: readonly NodeChange[], after: ValuesAfter, live: LiveSchemas): Drafts {
  const schemas: Drafts = {};
  for (const {
    path: [schema, table, column],
  } of changes) {
    const liveSchema = own(live, schema);
    const ofSchema = after.below?.get(schema);
    const schemaDraft = draftIn(schemas, schema, () => ({
      enabled: ofSchema?.enabled ?? liveSchema?.enabled ?? false,
      tables: {},
    }));
    if (table === undefined || schemaDraft.tables === undefined) continue;
    const liveTable = own(liveSchema?.tables, table);
    const ofTable = ofSchema?.below?.get(table);
    const tableDraft = draftIn(schemaDraft.tables, table, () => ({
      enabled: ofTable?.enabled ?? liveTable?.enabled ?? false,
      columns: {},
    }));
    if (column === undefined || tableDraft.columns === undefined) continue;
    const liveColumn = own(liveTable?.columns, column);
    const ofColumn = ofTable?.below?.get(column);
    const enabled = ofColumn?.enabled ?? liveColumn?.enabled ?? false;
    const hashed = ofColumn?.hashed ?? liveColumn?.hashed ?? false;
    setOwn(tableDraft.columns, column, columnDraft({ enabled, hashed }));
  }
  // V8 keeps a map that was filled name by name as a hash table, with five times the memory of a copy.
  for (const { tables = {} } of Object.values(schemas))
    for (const table of Object.values(tables)) if (table.columns !== undefined) table.columns = { ...table.columns };
  return schemas;
}

/** Adds the tables of other drafts, which the drafts do not have. */
function addTables(drafts: Drafts, others: Drafts): void {
  for (const [schema, other] of Object.entries(others)) {
    const { tables = {} } = draftIn(drafts, schema, () => other);
    for (const [table, draft] of Object.entries(other.tables ?? {})) setOwn(tables, table, draft);
  }
}

function draftIn(drafts: Drafts, name: string, make: () => Draft): Draft {
  const known = own(drafts, name);
  if (known !== undefined) return known;
  const made = make();
  setOwn(drafts, name, made);
  return made;
}

/** The bodies that `patches` has made. */
const treeIn = (body: JsonObject): SchemaTree => (body["schemas"] ?? {}) as SchemaTree;

/** The tables in which the bodies change columns. */
export function tablesTouched(requests: readonly PlannedRequest[]): readonly TablePath[] {
  const touched = new Map<Pointer, TablePath>();
  for (const request of requests)
    walk(treeIn(request.body), { column: (_, [schema, table]) => touched.set(nodePointer([schema, table]), [schema, table]) });
  return [...touched.values()];
}
