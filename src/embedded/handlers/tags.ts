import type { ResourceType, TagRecord } from "../data/account.ts";
import {
  type CallResult,
  filled,
  invalid,
  notFound,
  optionalString,
  param,
  requiredString,
  type ServedCall,
  success,
} from "../http/call.ts";
import { listed } from "../http/paging.ts";
import { record } from "./audit.ts";
import { findIntegration } from "./integrations.ts";

export const listTags = (call: ServedCall): CallResult =>
  listed(call, call.account.tags, (tag, options) => filled(withoutResources(tag), options));

/** The tag is directly in data, with what it is attached to. */
export function getTag(call: ServedCall): CallResult {
  const tag = tagOf(call);
  return success({
    ...filled(withoutResources(tag), call.options),
    taggedResources: tag.relations.map(({ resourceId }) => ({ id: resourceId })),
  });
}

/** PUT /v1/tags/{id}; whether missing members are kept or cleared is the option `replaceOnPut` (docs/service-interface.md#tags is silent). */
export function putTag(call: ServedCall): CallResult {
  const { account, options, body, by, now } = call;
  const tag = tagOf(call);
  const missing = options.replaceOnPut === true ? { name: "", description: "", owner: "" } : tag;
  const name = optionalString(body, "name") ?? missing.name;
  const description = optionalString(body, "description") ?? missing.description;
  const owner = optionalString(body, "owner") ?? missing.owner;
  Object.assign(tag, { name, description, owner, lastUpdatedAt: now.toISOString() });
  record(account, by, now, `Tag ${tag.id} "${tag.name}" updated`);
  return success(filled(withoutResources(tag), options));
}

/**
 * POST /v1/tags/{id}/relation (docs/service-interface.md#relations): no data in the response. An integration must exist and so must the tagging user; data
 * assets and monitors can't be known here, as no call lists them. A relation that already exists stays as it is.
 */
export function relateTag(call: ServedCall): CallResult {
  const { account, options, body, by, now } = call;
  const tag = tagOf(call);
  const resourceId = requiredString(body, "resourceId");
  const resourceType = resourceTypeOf(requiredString(body, "resourceType"));
  const taggedBy = requiredString(body, "taggedBy");
  if (!account.users.some((user) => user.id === taggedBy)) throw invalid("taggedBy must be the id of a user.");
  const integration = resourceType === "Integration" ? findIntegration(account, resourceId) : undefined;
  if (resourceType === "Integration" && integration === undefined) throw notFound("integration", resourceId);
  const exists = tag.relations.some((relation) => relation.resourceId === resourceId && relation.resourceType === resourceType);
  if (!exists) tag.relations.push({ resourceId, resourceType, taggedBy });
  const resource = `${resourceType} ${resourceId}${integration === undefined ? "" : ` "${integration.name}"`}`;
  record(account, by, now, `Tag ${tag.id} "${tag.name}" ${exists ? "was already attached" : "attached"} to ${resource}`);
  return success(undefined, "Tag relation created", options.createdStatus);
}

/** The tag that the path names; throws a 404. */
export function tagOf(call: ServedCall): TagRecord {
  const id = param(call, "id");
  const found = call.account.tags.find((tag) => tag.id === id);
  if (found === undefined) throw notFound("tag", id);
  return found;
}

/** Throws a 400 for any other text than the three of docs/service-interface.md#relations. */
export function resourceTypeOf(text: string): ResourceType {
  if (text === "Integration" || text === "DataAsset" || text === "Monitor") return text;
  throw invalid("resourceType must be Integration, DataAsset or Monitor.");
}

const withoutResources = ({ relations: _, ...tag }: TagRecord): object => tag;
