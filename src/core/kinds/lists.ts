import { idOf, listOf, memberOf, optionalFlagOf, optionalTextOf, type Part, textOf } from "../model/decode.ts";
import { defined } from "../model/json/json.ts";
import type { LiveAsset, LiveIntegration, LiveReference, LiveTag, LiveUser } from "../model/live.ts";
import type { List } from "../model/service.ts";
import { decodeFields, type Fields } from "./fields.ts";

// The lists of the service. Decoders throw ServiceError E_MALFORMED_ANSWER.

/** What GET of one integration may show beside the members of the list, and what it means if only this one is absent. */
export const integrationDetails = {
  replicationFrequency: "manual",
  cronExpression: null,
  baseTime: null,
  destinationSchema: undefined,
  onSchemaUpdate: undefined,
  agentId: null,
} as const satisfies Partial<Record<keyof LiveIntegration, string | null | undefined>>;

/** docs/service-interface.md#integrations */
export const integrations: List<LiveIntegration> = {
  name: "integrations",
  decode: decodeIntegration,
  // Descriptions of the service differ: the integration is in `data.integration`, or is `data` itself.
  one: (data) => {
    const inside = memberOf(data, "integration");
    return decodeIntegration(inside.value === undefined || inside.value === null ? data : inside);
  },
  inCreation: (id) => ({
    id,
    name: "",
    createdAt: undefined,
    paused: undefined,
    source: undefined,
    destination: undefined,
    isInCreation: true,
  }),
  lacks: ({ source, destination }) => (source === undefined ? "source" : destination === undefined ? "destination" : undefined),
  isCreated: true,
  details: Object.keys(integrationDetails),
};

/** docs/service-interface.md#users */
export const users: List<LiveUser> = {
  name: "users",
  decode: (part) => ({
    id: idOf(memberOf(part, "id")),
    email: textOf(memberOf(part, "email")),
    name: optionalTextOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
  }),
};

function decodeIntegration(part: Part): LiveIntegration {
  return {
    id: idOf(memberOf(part, "id")),
    name: optionalTextOf(memberOf(part, "name")) ?? "",
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
    paused: optionalFlagOf(memberOf(part, "paused")),
    source: decodeReference(memberOf(part, "source")),
    destination: decodeReference(memberOf(part, "destination")),
    ...decodeDetails(part),
    ...(optionalFlagOf(memberOf(part, "isDraft")) === true ? { isDraft: true } : {}),
  };
}

function decodeDetails(part: Part): Partial<LiveIntegration> {
  const shown = Object.keys(integrationDetails).map((name) => [name, memberOf(part, name)] as const);
  if (shown.every(([, { value }]) => value === undefined)) return {};
  const details = Object.fromEntries(shown.map(([name, member]) => [name, optionalTextOf(member)]));
  return defined({ ...integrationDetails, ...defined(details) });
}

function decodeReference(part: Part): LiveReference | undefined {
  if (part.value === undefined || part.value === null) return undefined;
  const textIn = (name: string): string => optionalTextOf(memberOf(part, name)) ?? "";
  return { id: idOf(memberOf(part, "id")), name: textIn("name"), type: textIn("type") };
}

/** docs/service-interface.md#tags */
export const tagFields = {
  id: { as: "id", instead: "Pin the live id as metadata.id.", isColumn: true },
  name: { as: "text", isWritten: true, isColumn: true },
  description: { as: "optional", isWritten: true, isColumn: true },
  owner: { as: "optional", isWritten: true, isColumn: true },
  origin: { as: "optional", instead: "Remove it." },
  createdAt: { as: "optional", instead: "Remove it." },
  lastUpdatedAt: { as: "optional", instead: "Remove it.", isColumn: true },
} as const satisfies Fields;

export const tags: List<LiveTag> = {
  name: "tags",
  decode: decodeTag,
  one: decodeTag,
  brief: ({ taggedResources: _, ...tag }) => tag,
  isCreated: true,
};

/** `taggedResources` is absent if the response has none. */
function decodeTag(part: Part): LiveTag {
  const resources = memberOf(part, "taggedResources");
  return {
    ...decodeFields(tagFields, part),
    ...(resources.value === undefined || resources.value === null
      ? {}
      : { taggedResources: listOf(resources).map((resource) => ({ id: idOf(memberOf(resource, "id")) })) }),
  };
}

/** Assets are in no list of the service, so only `one` is used. */
export const assets: List<LiveAsset> = { name: "assets", decode: decodeAsset, one: decodeAsset, extended: "GET /v1/assets/{id}" };

function decodeAsset(part: Part): LiveAsset {
  const [id, owners] = [memberOf(part, "id"), memberOf(part, "owners").value];
  const text = (name: string): string | undefined => optionalTextOf(memberOf(part, name)) || undefined;
  return {
    id: idOf(id.value === undefined ? memberOf(part, "_id") : id),
    name: text("name"),
    type: text("type"),
    description: text("description") ?? "",
    authMethod: text("authMethod"),
    connectionType: text("connectionType"),
    owners: Array.isArray(owners) && owners.every((owner) => typeof owner === "string") ? owners : undefined,
  };
}
