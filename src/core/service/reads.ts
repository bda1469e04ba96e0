import type { Where } from "../model/decode.ts";
import { countOf, type Envelope, listOf, memberOf, openEnvelope } from "../model/decode.ts";
import { isInCreation, readOr, ServiceError } from "../model/errors.ts";
import { isObject, type JsonValue, own } from "../model/json/json.ts";
import { urlPath } from "../model/json/pointer.ts";
import type { AuditQuery, List, Listed, Reads } from "../model/service.ts";
import type { WireResponse } from "./connection/transport.ts";
import { decodeAuditEntry } from "./decode/resources.ts";
import { decodeColumns, decodeSchemas } from "./decode/schemas.ts";
import { readEntries, readPages } from "./pages.ts";
import { isGone, type Refusal } from "./refusal.ts";
import type { Call, SendRequest } from "./request.ts";
import { readJson } from "./response-body.ts";

/** Whether the service has answered anything as expected. */
export interface Worked {
  readonly get: () => boolean;
  readonly set: () => void;
}

/** The GET requests of the interface. */
export function createReads(exchange: SendRequest, worked: Worked): Reads {
  const whereOf = (path: string): Where => ({ method: "GET", path, sent: "answered", hasWorked: worked.get });
  const opened = (value: JsonValue, where: Where): Envelope => {
    const envelope = openEnvelope(value, where);
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
    decode: (envelope: Envelope, where: Where) => T,
    options: Pick<Call<JsonValue | undefined>, "isSmall" | "absent"> = {},
  ): Promise<T | undefined> => {
    const where = whereOf(path);
    const read = ({ body }: WireResponse): JsonValue | undefined => readJson(body, where);
    const absent = (refusal: Refusal): undefined | "error" => (isGone(refusal) ? undefined : "error");
    const value = await exchange({ method: "GET", path, absent, ...options, read });
    return value === undefined ? undefined : decode(opened(value, where), where);
  };

  const one = async <T extends Listed>({ name, one: decode, inCreation }: List<T>, id: string): Promise<T | undefined> => {
    if (decode === undefined) return undefined;
    return readOr(
      () => getOne(urlPath(["v1", name, id]), ({ data }) => decode(data)),
      (failure) => {
        if (inCreation === undefined || !isInCreation(failure)) throw failure;
        return inCreation(id);
      },
    );
  };

  return {
    list: ({ name, decode }) => readPages(`/v1/${name}`, get, decode),
    one,
    async schemas(id) {
      const path = urlPath(["v1", "integrations", id, "schemas"]);
      const where = whereOf(path);
      const value = await readOr(
        () => exchange({ method: "GET", path, read: ({ body }) => readJson(body, where) }),
        (failure) => failure,
      );
      if (!(value instanceof ServiceError))
        return hasNoSchemas(value) ? { tree: {} } : { tree: decodeSchemas(opened(value, where).data.value, where) };
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

const noSchemaConfig = "NotFound_SchemaConfig";
const noIntegration = "NotFound_Integration";

/** `data: null` and `schemas: null` are answers of an integration whose schemas are not discovered yet. */
function hasNoSchemas(response: JsonValue): boolean {
  const data = isObject(response) ? own(response, "data") : undefined;
  return data === null || (isObject(data) && own(data, "schemas") === null);
}

function auditQuery({ limit, offset, sortOrder, startAt, endAt }: AuditQuery): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, offset, sortOrder, startAt, endAt })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}
