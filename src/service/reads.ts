import type { Where } from "../model/decode.ts";
import { countOf, type Envelope, listOf, memberOf, openEnvelope } from "../model/decode.ts";
import type { JsonValue } from "../model/json/json.ts";
import { urlPath } from "../model/json/pointer.ts";
import type { AuditQuery, Reads } from "../model/service.ts";
import type { WireResponse } from "./connection/transport.ts";
import { decodeAuditEntry } from "./decode/resources.ts";
import { decodeColumns, decodeSchemas } from "./decode/schemas.ts";
import { readPages } from "./pages.ts";
import type { Call, SendRequest } from "./request.ts";
import { readJson } from "./response-body.ts";

const whereOf = (path: string): Where => ({ method: "GET", path, sent: "answered" });

/** The GET requests of the interface. */
export function createReads(exchange: SendRequest): Reads {
  // Only reading the JSON is part of the attempt: a truncated body is retried, a response of the wrong shape is not.
  const get = async (path: string): Promise<Envelope> => {
    const where = whereOf(path);
    return openEnvelope(await exchange({ method: "GET", path, heldSecrets: false, read: ({ body }) => readJson(body, where) }), where);
  };

  /** undefined if the object does not exist (404). */
  const getOne = async <T>(
    path: string,
    decode: (envelope: Envelope, where: Where) => T,
    size: Pick<Call<T>, "isSmall"> = {},
  ): Promise<T | undefined> => {
    const where = whereOf(path);
    const read = ({ body }: WireResponse): JsonValue | undefined => readJson(body, where);
    const value = await exchange({ method: "GET", path, heldSecrets: false, ...size, read, absent: () => undefined });
    return value === undefined ? undefined : decode(openEnvelope(value, where), where);
  };

  return {
    list: ({ name, decode }) => readPages(`/v1/${name}`, get, decode),
    one: async ({ name, one }, id) => (one === undefined ? undefined : await getOne(urlPath(["v1", name, id]), ({ data }) => one(data))),
    schemas: (id) => getOne(urlPath(["v1", "integrations", id, "schemas"]), ({ data }, where) => decodeSchemas(data.value, where)),
    columns: (id, schema, table) =>
      getOne(
        urlPath(["v1", "integrations", id, "schemas", schema, "tables", table, "columns"]),
        ({ data }, where) => decodeColumns(data.value, where),
        { isSmall: true },
      ),
    async auditLogs(query) {
      const { data } = await get(`/v1/audit-logs${auditQuery(query)}`);
      return { totalItems: countOf(memberOf(data, "totalItems")), items: listOf(memberOf(data, "items")).map(decodeAuditEntry) };
    },
  };
}

function auditQuery({ limit, offset, sortOrder, startAt, endAt }: AuditQuery): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, offset, sortOrder, startAt, endAt })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}
