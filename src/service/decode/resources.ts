import type { AuditEntry, LiveIntegration, LiveReference, LiveTag, LiveUser } from "../../model/live.ts";
import type { WriteDecoder } from "../../model/service.ts";
import { idOf, listOf, memberOf, optionalFlagOf, optionalTextOf, type Part, textOf } from "./members.ts";
import { decodeSchemas } from "./schemas.ts";

/** interface §2.2. @throws ServiceError E_MALFORMED_ANSWER, as every decoder */
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

/** interface §2.4. `taggedResources` stays absent where the answer has none. */
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

/** interface §2.8 */
export function decodeUser(part: Part): LiveUser {
  return {
    id: idOf(memberOf(part, "id")),
    email: textOf(memberOf(part, "email")),
    name: optionalTextOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
  };
}

/** interface §2.7; actor and context may be missing, the endpoint being in Beta. */
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
 * What the answers to writes say about the new state. `schemas` changes the answer's data in place. An error names the path's template and has `sent`
 * "maybe": the service has acted, and what it did can't be read.
 */
export const decodeWrite: WriteDecoder = {
  schemas: ({ data }) => decodeSchemas(data, { method: "PATCH", path: "/v1/integrations/{id}/schemas", sent: "maybe" }),
  tag: ({ data }) => decodeTag({ value: data, where: { method: "PUT", path: "/v1/tags/{id}", sent: "maybe" }, above: "/data" }),
};
