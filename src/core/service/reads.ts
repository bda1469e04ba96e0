import type { WireResponse } from "../base/http/exchange.ts";
import {
  type AnsweredCall,
  countOf,
  type Envelope,
  idOf,
  listOf,
  malformed,
  memberOf,
  openBare,
  openEnvelope,
  optionalTextOf,
  type ResponsePart,
  textOf,
} from "../base/model/decode.ts";
import { isInCreation, readNow, readOr, ServiceError } from "../base/model/errors.ts";
import { defined, isObject, type JsonValue, memberAt, own } from "../base/model/json/json.ts";
import { urlPath } from "../base/model/json/pointer.ts";
import type { AuditEntry, LiveSchemas } from "../base/model/live.ts";
import {
  type AuditQuery,
  type ExtendedCall,
  isNotOffered,
  type List,
  type Listed,
  type Listing,
  type Reads,
  type UnreadEntry,
  type UnreadTable,
  type WriteDecoder,
} from "../base/model/service.ts";
import { decodeColumns, decodeSchemas } from "./decode/schemas.ts";
import type { SendRequest, ServiceCall } from "./request.ts";
import { isGone, isUnknownPath, readJson, readUnique, type ServiceRefusal } from "./response-body.ts";

/** Whether the service has answered anything as expected. */
export interface Worked {
  readonly get: () => boolean;
  readonly set: () => void;
}

/** The GET requests of the interface. `extended`: the first attempt at each of those beyond it, without those that the service turned out not to have. */
export function createReads(exchange: SendRequest, worked: Worked, extended: Map<ExtendedCall, Promise<unknown> | undefined>): Reads {
  const whereOf = (path: string): AnsweredCall => ({ method: "GET", path, sent: "answered", hasWorked: worked.get });
  const opened = (value: JsonValue, where: AnsweredCall, isBare = false): Envelope => {
    const envelope = isBare ? openBare(value, where) : openEnvelope(value, where);
    worked.set();
    return envelope;
  };
  // Only reading the JSON is part of the attempt: a truncated body is retried, a response of the wrong shape is not.
  const get = async (path: string): Promise<Envelope> => {
    const where = whereOf(path);
    return opened(await exchange({ method: "GET", path, read: ({ body }) => readJson(body, where) }), where);
  };

  /** undefined if the object does not exist (404). */
  const getOne = async <T>(
    path: string,
    decode: (envelope: Envelope, where: AnsweredCall) => T,
    { isBare, ...options }: Pick<ServiceCall<JsonValue | undefined>, "isSmall" | "absent"> & { readonly isBare?: true } = {},
  ): Promise<T | undefined> => {
    const where = whereOf(path);
    const read = ({ body }: WireResponse): JsonValue | undefined => readUnique(body, where);
    const value = await exchange({ method: "GET", path, absent: orError(isGone), ...options, read });
    return value === undefined ? undefined : decode(opened(value, where, isBare), where);
  };

  const one = async <T extends Listed>({ name, one: decode, inCreation, extended: call }: List<T>, id: string): Promise<T | undefined> => {
    if (decode === undefined) return undefined;
    const path = urlPath(["v1", name, id]);
    // A plan would bind the manifest to another object.
    const asked = ({ data }: Envelope): T => {
      const found = decode(data);
      if (found.id !== id) throw malformed(whereOf(path), "/data", `is the object ${JSON.stringify(found.id)}, which was not asked for`);
      return found;
    };
    if (call !== undefined) return ifOffered(call, () => getOne(path, asked, { absent: orError(isObjectGone), isBare: true }));
    return readOr(
      () => getOne(path, asked),
      (failure) => {
        if (inCreation === undefined || !isInCreation(failure)) throw failure;
        return inCreation(id);
      },
    );
  };

  /** undefined if the service does not have the request. The others wait for the first one, so that such a service gets it once. */
  const ifOffered = async <T>(call: ExtendedCall, send: () => Promise<T | undefined>): Promise<T | undefined> => {
    const attempt = () =>
      readOr(send, (failure) => {
        if (!isNotOffered(failure)) throw failure;
        extended.delete(call);
        return undefined;
      });
    const before = extended.get(call);
    if (before !== undefined) await before.catch(() => undefined);
    if (!extended.has(call)) return undefined;
    const found = attempt();
    if (before === undefined) extended.set(call, found);
    return found;
  };

  return {
    list: ({ name, decode }) => readPages(`/v1/${name}`, get, decode),
    one,
    offers: (call) => extended.has(call),
    async schemas(id) {
      const path = urlPath(["v1", "integrations", id, "schemas"]);
      const where = whereOf(path);
      const unread: UnreadTable[] = [];
      const isInTable = ([data, schemas, schema, tables, table]: readonly string[], failure: ServiceError): boolean =>
        data === "data" &&
        schemas === "schemas" &&
        schema !== undefined &&
        tables === "tables" &&
        table !== undefined &&
        unread.push({ path: [schema, table], failure }) > 0;
      const value = await readOr(
        () => exchange({ method: "GET", path, read: ({ body }) => readUnique(body, where, isInTable) }),
        (failure) => failure,
      );
      if (!(value instanceof ServiceError)) {
        if (hasNoSchemas(value)) return { tree: {} };
        const tree = decodeSchemas(opened(value, where).data.value, where, unread);
        return { tree: withoutMembers(tree, unread), ...(unread.length === 0 ? {} : { unread }) };
      }
      if (isInCreation(value) || value.serviceCode === noSchemaConfig) return { tree: {}, notYet: value.reason };
      if (value.status !== 404) throw value;
      const exists = await getOne(urlPath(["v1", "integrations", id]), () => true);
      return exists === undefined ? undefined : { tree: {}, notYet: value.reason };
    },
    columns: (id, schema, table) =>
      getOne(
        urlPath(["v1", "integrations", id, "schemas", schema, "tables", table, "columns"]),
        ({ data }, where) => decodeColumns(data.value, where),
        { isSmall: true, absent: ({ code }) => (code === noIntegration ? "error" : undefined) },
      ),
    async auditLogs(query) {
      const { data } = await get(`/v1/audit-logs${auditQuery(query)}`);
      return { totalItems: countOf(memberOf(data, "totalItems")), ...readEntries(listOf(memberOf(data, "items")), decodeAuditEntry) };
    },
  };
}

const orError =
  (isAbsent: (refusal: ServiceRefusal) => boolean) =>
  (refusal: ServiceRefusal): undefined | "error" =>
    isAbsent(refusal) ? undefined : "error";

const isObjectGone = (refusal: ServiceRefusal): boolean => isGone(refusal) && !isUnknownPath(refusal);

const noSchemaConfig = "NotFound_SchemaConfig";
const noIntegration = "NotFound_Integration";

function withoutMembers(tree: LiveSchemas, tables: readonly UnreadTable[]): LiveSchemas {
  // What was decoded can be changed: nothing else uses it yet.
  for (const { path } of tables) Object.assign(tree[path[0]]?.tables ?? {}, { [path[1]]: {} });
  return tree;
}

/** `data: null` and `schemas: null` are answers of an integration whose schemas are not discovered yet. */
function hasNoSchemas(response: JsonValue): boolean {
  const data = memberAt(response, "data");
  return data === null || (isObject(data) && own(data, "schemas") === null);
}

function auditQuery({ limit, offset, sortOrder, startAt, endAt }: AuditQuery): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, offset, sortOrder, startAt, endAt })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/*
 * The interface documents no paging for the lists of integrations, tags and users
 * (docs/service-interface.md#users), so the first request has no parameters. If a response shows that
 * there is more, dimsync follows: a missing object would look like one to create. The signs are
 * `totalItems` or `total`, `hasMore` and `nextCursor`, in `data` or beside it. A page without new items
 * means that the service ignored the parameters. The list is then "short": nothing is created based on
 * it, and there is no endless loop.
 */

/** More than any account has. Ends an endless list. */
const mostPages = 10_000;

interface Paging {
  readonly total: number | undefined;
  readonly hasMore: boolean | undefined;
  /** undefined: absent; "": this was the last page. */
  readonly nextCursor: string | undefined;
}

const unreadIn = (unread: readonly UnreadEntry[]): Pick<Listing<unknown>, "unread"> => (unread.length === 0 ? {} : { unread });

/** An entry that the decoder refuses, by what it shows of itself. */
function unreadEntry({ value, name: index = 0 }: ResponsePart, { message }: ServiceError): UnreadEntry {
  const shown = (name: string): string | undefined => {
    const member = memberAt(value, name);
    return typeof member === "string" && member !== "" ? member : Number.isSafeInteger(member) ? String(member) : undefined;
  };
  return { index: Number(index), ...defined({ id: shown("id"), name: shown("name") }), why: message };
}

/** The entries of one page; those that cannot be read are reported and skipped. */
function readEntries<T>(parts: readonly ResponsePart[], decode: (part: ResponsePart) => T): Pick<Listing<T>, "items" | "unread"> {
  const unread: UnreadEntry[] = [];
  const items = parts.flatMap((part) => {
    const item = readNow(
      () => decode(part),
      (error) => void unread.push(unreadEntry(part, error)),
    );
    return item === undefined ? [] : [item];
  });
  return { items, ...unreadIn(unread) };
}

/**
 * Reads a list to its end; an entry that cannot be read is reported and skipped. "short" if the pages do not add up to the announced total. Items with a known id are dropped.
 * @throws ServiceError E_MALFORMED_ANSWER
 */
async function readPages<T extends { readonly id: string }>(
  path: string,
  get: (path: string) => Promise<Envelope>,
  decode: (part: ResponsePart) => T,
): Promise<Listing<T>> {
  const byId = new Map<string, T>();
  const unread: UnreadEntry[] = [];
  const received = { items: 0, pageSize: 0, cursors: new Set<string>() };
  let announced: number | undefined;
  let twice: string | undefined;
  let next = path;
  const short = (reason: string): Listing<T> => ({
    items: [...byId.values()],
    ...unreadIn(unread),
    completeness: "short",
    why: `GET ${path}: the list could not be read completely: ${reason}`,
  });

  for (let page = 1; page <= mostPages; page += 1) {
    const envelope = await get(next);
    const parts = listOf(memberOf(envelope.data, "items"));
    const known = byId.size + unread.length;
    const ofPage = new Set<string>();
    const read = readEntries(parts, decode);
    for (const entry of read.unread ?? []) unread.push(entry);
    for (const item of read.items) {
      // Pages may overlap, because objects are created while they are read.
      if (ofPage.has(item.id)) twice ??= item.id;
      ofPage.add(item.id);
      if (!byId.has(item.id)) byId.set(item.id, item);
    }
    received.items += parts.length;
    received.pageSize = Math.max(received.pageSize, parts.length);
    const paging = pagingOf(envelope);
    if (announced !== undefined && paging.total !== undefined && paging.total !== announced)
      return short("its total changed while it was read. Run the command again.");
    announced = paging.total;

    if (!saysMore(paging, byId.size + unread.length)) {
      if (twice !== undefined) return short(`it has the id ${JSON.stringify(twice)} twice, so another object may be missing.`);
      return {
        items: [...byId.values()],
        ...unreadIn(unread),
        completeness: saysAll(paging, byId.size + unread.length) ? "shown" : "unknown",
      };
    }
    if (byId.size + unread.length === known) return short("it announces more items, but the next page has no new ones.");
    const query = nextPage(paging, received);
    if (query === undefined) return short("it repeats the same cursor.");
    next = `${path}?${new URLSearchParams(query).toString()}`;
  }
  return short(`it has more than ${mostPages} pages.`);
}

interface Received {
  readonly items: number;
  /** The largest page. */
  readonly pageSize: number;
  /** Those that were followed; the next one is added. */
  readonly cursors: Set<string>;
}

/** The parameters of the next page; undefined if its cursor was followed before. */
function nextPage({ nextCursor }: Paging, { items, pageSize, cursors }: Received): Readonly<Record<string, string>> | undefined {
  if (nextCursor === undefined || nextCursor === "") return { offset: String(items), limit: String(pageSize) };
  if (cursors.has(nextCursor)) return undefined;
  cursors.add(nextCursor);
  return { cursor: nextCursor };
}

function saysMore({ total, hasMore, nextCursor }: Paging, count: number): boolean {
  return (nextCursor !== undefined && nextCursor !== "") || (total !== undefined && total > count) || hasMore === true;
}

/** For a response without a sign of more items. */
function saysAll({ total, hasMore, nextCursor }: Paging, count: number): boolean {
  return total === count || hasMore === false || nextCursor === "";
}

function pagingOf(envelope: Envelope): Paging {
  const members = (name: string): readonly unknown[] =>
    [envelope.data.value, envelope.top.value].map((value) => memberAt(value, name)).filter((value) => value !== undefined);
  const totals = [...members("totalItems"), ...members("total")];
  const cursor = members("nextCursor").find((value) => value === null || typeof value === "string" || typeof value === "number");
  return {
    total: totals.find((value): value is number => Number.isSafeInteger(value)),
    hasMore: members("hasMore").find((value) => typeof value === "boolean"),
    nextCursor: cursor === undefined ? undefined : cursor === null ? "" : String(cursor),
  };
}

/** docs/service-interface.md#audit-log. The endpoint is in Beta, so actor and context may be missing. */
function decodeAuditEntry(part: ResponsePart): AuditEntry {
  const actor = memberOf(part, "actor");
  const context = memberOf(part, "context");
  return {
    id: idOf(memberOf(part, "id")),
    timestamp: cut(textOf(memberOf(part, "timestamp"))),
    event: cut(textOf(memberOf(part, "event"))),
    actor: { type: optionalTextIn(actor, "type"), email: optionalTextIn(actor, "email") },
    context: { ipAddress: optionalTextIn(context, "ipAddress"), userAgent: optionalTextIn(context, "userAgent") },
  };
}

function optionalTextIn(part: ResponsePart, name: string): string | undefined {
  const text = part.value === undefined || part.value === null ? undefined : optionalTextOf(memberOf(part, name));
  return text === undefined ? undefined : cut(text);
}

/** In characters. Ten thousand entries are kept at once, and anybody who can use the service writes texts into them. */
const longestText = 4_096;

/** A copy, because V8 keeps the whole text in memory as long as a slice of it. */
const cut = (text: string): string =>
  text.length <= longestText ? text : `${Buffer.from(text.slice(0, longestText), "utf16le").toString("utf16le")}…`;

/**
 * The new state in the responses to writes. `schemas` changes the data of the response in place. An
 * error names the template of the path and has `sent` "maybe": the service acted, and the result
 * cannot be read.
 */
export const decodeWrite: WriteDecoder = {
  schemas: ({ data }) => decodeSchemas(data, { method: "PATCH", path: "/v1/integrations/{id}/schemas", sent: "maybe" }),
  put: ({ name, decode }, { data }) =>
    decode({ value: data, where: { method: "PUT", path: `/v1/${name}/{id}`, sent: "maybe" }, above: "/data" }),
};
