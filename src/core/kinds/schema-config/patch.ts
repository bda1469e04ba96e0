import { defined, type JsonObject, type JsonValue, own, setOwn } from "../../base/model/json/json.ts";
import { type Pointer, urlPath } from "../../base/model/json/pointer.ts";
import type { LiveColumn, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import type { SchemaTree, TableTexts } from "../../base/model/manifest.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import { nodesAt, type TablePath, walk } from "../../base/model/schema-tree.ts";
import type { PlannedRequest } from "../../base/model/service.ts";
import type { ClientSettings } from "../../base/model/settings/config.ts";
import { isSameMode } from "../../base/model/sync-mode.ts";
import type { NodeChange } from "./evaluation.ts";

/** Servers and proxies limit the size of a body (often to 10 MB), and the interface names no limit. */
const maxBodyBytes = 8 * 1024 * 1024;

/**
 * The changes, in their order, as PATCH requests. With `entries: "changed"`, a body has the members that change and the path to them, and
 * nothing else, so that it never sets a value that somebody else has changed meanwhile. With "complete", for a service that needs complete
 * entries, unchanged members of a touched node repeat the live values, and maps without changed members are empty. Changes that protect
 * are sent first, in a request of their own, so that they are kept if the service refuses another one, such as a sync mode.
 *
 * A body of more than 8 MiB is split between tables, and within a table that does not fit.
 */
export function patches(
  integrationId: string,
  changes: readonly NodeChange[],
  { live, entries = "changed" }: PatchOptions,
): readonly PlannedRequest[] {
  const protecting = changes.filter(({ risk }) => risk === "protects");
  const path = urlPath(["v1", "integrations", integrationId, "schemas"]);
  const repeated = entries === "complete" ? live : undefined;
  // A complete second body repeats the values that the protecting ones have set, and shared ancestors those of all bodies before.
  const bodies = [
    ...bodiesOf(
      draftsOf(protecting, () => true, repeated),
      maxBodyBytes,
    ),
    ...bodiesOf(
      draftsOf(changes, ({ risk }) => risk !== "protects", repeated),
      maxBodyBytes,
    ),
  ];
  return bodies.map((body) => ({ method: "PATCH", path, body }));
}

interface PatchOptions {
  readonly live: LiveSchemas;
  readonly entries?: ClientSettings["entries"] | undefined;
}

type Drafts = Record<string, Draft>;

interface Draft extends TableTexts {
  readonly enabled?: boolean;
  readonly hashed?: boolean;
  tables?: Drafts;
  columns?: Drafts;
}

// Drafts are JSON, although their type does not say so.
const bodyOf = (schemas: Drafts): JsonObject => ({ schemas: schemas as unknown as JsonValue });

type Flag = boolean | undefined;

/** Columns have few different values, so that millions of them need not be objects of their own. */
const flags: readonly Flag[] = [true, false, undefined];
const columnDrafts: ReadonlyMap<Flag, ReadonlyMap<Flag, Draft>> = new Map(
  flags.map((enabled) => [enabled, new Map(flags.map((hashed) => [hashed, defined({ enabled, hashed })]))]),
);

/** A node with the values that are sent of it, after the changes so far, and its draft if it is sent. */
interface Place<Live> {
  readonly name: string | undefined;
  readonly live: Live | undefined;
  enabled: Flag;
  hashed: Flag;
  texts: TableTexts;
  draft: Draft | undefined;
}

/** Starts with the live values, if they are repeated. */
function placeOf<Live extends { readonly enabled?: boolean; readonly hashed?: boolean }>(
  name: string | undefined,
  live: Live | undefined,
): Place<Live> {
  return { name, live, enabled: live?.enabled, hashed: live?.hashed, texts: {}, draft: undefined };
}

/** The nodes that are sent, and at least the size of their JSON, so that most bodies need not be printed to know that they fit. */
interface Sent {
  readonly schemas: Drafts;
  readonly mostBytes: number;
  readonly isWhole: boolean;
}

/**
 * The changes are in the order of the names, so those of a node follow each other, and come before those of the nodes below. `repeated`:
 * nodes are sent whole, with these values after all of the changes; undefined: only what is sent changes.
 */
function draftsOf(changes: readonly NodeChange[], isSent: (change: NodeChange) => boolean, repeated: LiveSchemas | undefined): Sent {
  const schemas: Drafts = {};
  const isWhole = repeated !== undefined;
  let mostBytes = 0;
  const add = (drafts: Drafts, name: string, draft: Draft): Draft => {
    setOwn(drafts, name, draft);
    // What is printed around a name is shorter, and a UTF-16 unit of a name has at most six bytes.
    mostBytes += 96 + (name.length + (draft.syncMode ?? "").length + (draft.cursorField ?? "").length) * 6;
    return draft;
  };
  let schema = placeOf<LiveSchemas[string]>(undefined, undefined);
  let table = placeOf<LiveTable>(undefined, undefined);
  let column = placeOf<LiveColumn>(undefined, undefined);
  for (const change of changes) {
    const { path } = change;
    const isOtherSchema = path[0] !== schema.name;
    if (isOtherSchema) schema = placeOf(path[0], own(repeated, path[0]));
    const isOtherTable = isOtherSchema || path[1] !== table.name;
    if (isOtherTable) table = placeOf(path[1], path[1] === undefined ? undefined : own(schema.live?.tables, path[1]));
    if (isOtherTable || path[2] !== column.name)
      column = placeOf(path[2], path[2] === undefined ? undefined : own(table.live?.columns, path[2]));
    const isOwn = isSent(change);
    if (!isOwn && !isWhole) continue;
    const node = path[1] === undefined ? schema : path[2] === undefined ? table : column;
    if (change.key === "enabled" || change.key === "hashed") node[change.key] = change.after;
    else if (isOwn) table.texts = { ...table.texts, [change.key]: change.after };
    if (column.draft === undefined && !isOwn) continue;
    schema.draft ??= add(schemas, path[0], { ...defined({ enabled: schema.enabled }), ...(isWhole ? { tables: {} } : {}) });
    if (path[1] === undefined) continue;
    schema.draft.tables ??= {};
    const ofTable = { ...defined({ enabled: table.enabled }), ...table.texts, ...(isWhole ? { columns: {} } : {}) };
    if (path[2] === undefined || table.draft === undefined) table.draft = add(schema.draft.tables, path[1], ofTable);
    if (path[2] === undefined) continue;
    table.draft.columns ??= {};
    column.draft = add(table.draft.columns, path[2], columnDrafts.get(column.enabled)?.get(column.hashed) ?? {});
  }
  // V8 keeps a map that was filled name by name as a hash table, with five times the memory of a copy.
  for (const { tables = {} } of Object.values(schemas))
    for (const draft of Object.values(tables)) if (draft.columns !== undefined) draft.columns = { ...draft.columns };
  return { schemas, mostBytes, isWhole };
}

function bodiesOf({ schemas, mostBytes, isWhole }: Sent, maxBytes: number): readonly JsonObject[] {
  const pieces = Object.entries(schemas).flatMap(([name, draft]) => piecesOf(name, draft, isWhole));
  if (pieces.length === 0) return [];
  if (mostBytes <= maxBytes) return [bodyOf(schemas)];
  const parts: Drafts[] = [];
  let bytesLeft = 0;
  for (const piece of pieces.flatMap((one) => fitting(one, maxBytes))) {
    const bytes = bytesOf(piece);
    const part = parts.at(-1);
    if (part === undefined || bytes > bytesLeft) {
      parts.push(piece);
      bytesLeft = maxBytes - bytes;
    } else {
      addTables(part, piece);
      bytesLeft -= bytes;
    }
  }
  return parts.map(bodyOf);
}

/** The schema with each of its tables, or without any. Its own members are in the first piece, and in all if entries are whole. */
function piecesOf(name: string, { tables, ...schema }: Draft, isWhole: boolean): readonly Drafts[] {
  const entries = Object.entries(tables ?? {});
  if (entries.length === 0) return [only(name, { ...schema, ...(tables === undefined ? {} : { tables }) })];
  return entries.map(([table, draft], index) => only(name, { ...(isWhole || index === 0 ? schema : {}), tables: only(table, draft) }));
}

const bytesOf = (schemas: Drafts): number => Buffer.byteLength(JSON.stringify(bodyOf(schemas)));

/** The piece, or several with parts of the columns of its table, as far as that is necessary. */
function fitting(piece: Drafts, maxBytes: number): readonly Drafts[] {
  const [[schema, { tables, ...ofSchema }] = ["", {}]] = Object.entries(piece);
  const [[table, { columns = {}, ...ofTable }] = ["", {}]] = Object.entries(tables ?? {});
  const entries = Object.entries(columns);
  if (entries.length < 2 || bytesOf(piece) <= maxBytes) return [piece];
  const half = Math.ceil(entries.length / 2);
  return [entries.slice(0, half), entries.slice(half)].flatMap((some) =>
    fitting(only(schema, { ...ofSchema, tables: only(table, { ...ofTable, columns: Object.fromEntries(some) }) }), maxBytes),
  );
}

function only(name: string, draft: Draft): Drafts {
  const drafts: Drafts = {};
  setOwn(drafts, name, draft);
  return drafts;
}

/** Adds the tables and columns of other drafts, which the drafts do not have. */
function addTables(drafts: Drafts, others: Drafts): void {
  for (const [schema, other] of Object.entries(others)) {
    const { tables } = own(drafts, schema) ?? {};
    if (tables === undefined) setOwn(drafts, schema, other);
    else
      for (const [table, draft] of Object.entries(other.tables ?? {})) {
        const columns = { ...own(tables, table)?.columns, ...draft.columns };
        setOwn(tables, table, draft.columns === undefined ? draft : { ...draft, columns });
      }
  }
}

/** The request, split into bodies of at most so many bytes, as far as that is possible. What a schema or table itself gets is in each of them. */
export function smallerPatches({ method, path, body }: PlannedRequest, maxBytes: number): readonly PlannedRequest[] {
  const schemas = treeIn(body) as Drafts; // `patches` has made it of drafts
  const bodies = bodiesOf({ schemas, mostBytes: Number.POSITIVE_INFINITY, isWhole: true }, maxBytes);
  return bodies.map((one) => ({ method, path, body: one }));
}

/** The tree of a body that `patches` has made. */
export const treeIn = (body: JsonObject): SchemaTree => (body["schemas"] ?? {}) as SchemaTree;

/** The live tree with the modes that are the sent ones spelled as they were sent. */
export function spelledAsSent(live: LiveSchemas, requests: readonly PlannedRequest[]): LiveSchemas {
  const spelled = { ...live };
  for (const { body } of requests)
    walk(treeIn(body), {
      table({ syncMode }, path) {
        const { schema, table } = nodesAt(spelled, path);
        if (syncMode !== undefined && schema !== undefined && table !== undefined && isSameMode(syncMode, table.syncMode))
          spelled[path[0]] = { ...schema, tables: { ...schema.tables, [path[1]]: { ...table, syncMode } } };
        return false;
      },
    });
  return spelled;
}

/** The tables in which the bodies change columns. */
export function tablesTouched(requests: readonly PlannedRequest[]): readonly TablePath[] {
  const touched = new Map<Pointer, TablePath>();
  for (const { body } of requests)
    walk(treeIn(body), {
      table({ columns = {} }, path) {
        for (const _ in columns) {
          touched.set(nodePointer(path), path);
          break;
        }
        return false;
      },
    });
  return [...touched.values()];
}
