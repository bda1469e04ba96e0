import { idOf, memberOf, optionalTextOf, type Part, textOf } from "../../model/decode.ts";
import type { AuditEntry } from "../../model/live.ts";
import type { WriteDecoder } from "../../model/service.ts";
import { decodeSchemas } from "./schemas.ts";

/** docs/service-interface.md#audit-log. The endpoint is in Beta, so actor and context may be missing. */
export function decodeAuditEntry(part: Part): AuditEntry {
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

function optionalTextIn(part: Part, name: string): string | undefined {
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
