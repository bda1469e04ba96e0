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
    timestamp: textOf(memberOf(part, "timestamp")),
    event: textOf(memberOf(part, "event")),
    actor: { type: optionalTextIn(actor, "type"), email: optionalTextIn(actor, "email") },
    context: { ipAddress: optionalTextIn(context, "ipAddress"), userAgent: optionalTextIn(context, "userAgent") },
  };
}

function optionalTextIn(part: Part, name: string): string | undefined {
  return part.value === undefined || part.value === null ? undefined : optionalTextOf(memberOf(part, name));
}

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
