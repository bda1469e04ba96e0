import type { AuditEntry, LiveIntegration, LiveReference, LiveTag, LiveUser } from "../../model/live.ts";
import type { WriteDecoder } from "../../model/service.ts";
import { idOf, listOf, memberOf, optionalFlagOf, optionalTextOf, type Part, textOf } from "./members.ts";
import { decodeSchemas } from "./schemas.ts";

/** docs/service-interface.md#integrations. @throws ServiceError E_MALFORMED_ANSWER, as every decoder */
export function decodeIntegration(part: Part): LiveIntegration {
  return {
    id: idOf(memberOf(part, "id")),
    name: textOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
    paused: optionalFlagOf(memberOf(part, "paused")),
    source: decodeReference(memberOf(part, "source")),
    destination: decodeReference(memberOf(part, "destination")),
  };
}

function decodeReference(part: Part): LiveReference {
  return { id: idOf(memberOf(part, "id")), name: textOf(memberOf(part, "name")), type: textOf(memberOf(part, "type")) };
}

/** docs/service-interface.md#tags. `taggedResources` is absent if the response has none. */
export function decodeTag(part: Part): LiveTag {
  const resources = memberOf(part, "taggedResources");
  return {
    id: idOf(memberOf(part, "id")),
    name: textOf(memberOf(part, "name")),
    description: optionalTextOf(memberOf(part, "description")),
    owner: optionalTextOf(memberOf(part, "owner")),
    origin: optionalTextOf(memberOf(part, "origin")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
    lastUpdatedAt: optionalTextOf(memberOf(part, "lastUpdatedAt")),
    ...(resources.value === undefined || resources.value === null
      ? {}
      : { taggedResources: listOf(resources).map((resource) => ({ id: idOf(memberOf(resource, "id")) })) }),
  };
}

/** docs/service-interface.md#users */
export function decodeUser(part: Part): LiveUser {
  return {
    id: idOf(memberOf(part, "id")),
    email: textOf(memberOf(part, "email")),
    name: optionalTextOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
  };
}

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
  tag: ({ data }) => decodeTag({ value: data, where: { method: "PUT", path: "/v1/tags/{id}", sent: "maybe" }, above: "/data" }),
};
