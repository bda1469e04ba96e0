import type { AccountState } from "../data/account.ts";
import { isObject, type JsonObject, own, put } from "../data/own.ts";
import { type Call, type CallResult, invalid, notFound, optionalString, Refusal, requiredString, success } from "../http/call.ts";
import { assetOf } from "./assets.ts";
import { nextSequence, record, uuidOf } from "./audit.ts";
import { integrationOf } from "./integrations.ts";
import { resourceTypeOf, tagOf } from "./tags.ts";

// What users do in the service's own web pages. It is not part of the interface, so a client cannot use it.

/** POST /_console/integrations/{id}: `name`, `paused` and `failure` (why its creation failed), each optional. */
export function editIntegration(call: Call): CallResult {
  const integration = integrationOf(call);
  const name = optionalString(call.body, "name");
  const paused = own(call.body, "paused");
  if (paused !== undefined && typeof paused !== "boolean") throw invalid("paused must be true or false.");
  integration.name = name ?? integration.name;
  integration.paused = paused ?? integration.paused;
  const failure = optionalString(call.body, "failure");
  if (failure !== undefined) integration.failure = failure;
  const done = failure !== undefined ? "failed" : paused === undefined ? "renamed" : paused ? "paused" : "resumed";
  return changed(call, `Integration ${integration.id} "${integration.name}" ${done}`);
}

/** DELETE /_console/integrations/{id}: its tag relations go with it, and its source asset if no other integration uses it. */
export function deleteIntegration(call: Call): CallResult {
  const { id, name, source } = integrationOf(call);
  const { account } = call;
  account.integrations = account.integrations.filter((integration) => integration.id !== id);
  if (!isUsed(account, source.id)) account.assets = account.assets.filter((asset) => asset.id !== source.id);
  for (const tag of account.tags) {
    tag.relations = tag.relations.filter((relation) => relation.resourceType !== "Integration" || relation.resourceId !== id);
  }
  return changed(call, `Integration ${id} "${name}" deleted`);
}

/** PATCH /_console/integrations/{id}/schemas: a JSON merge patch (RFC 7396) on the map, so that anything in the source can be added, removed and changed. */
export function reshapeSchemas(call: Call): CallResult {
  const integration = integrationOf(call);
  const patch = own(call.body, "schemas");
  if (!isObject(patch)) throw invalid("schemas is required and must be an object.");
  // Not checked: the console may give the map any form, including an invalid one.
  mergePatch(integration.schemas as Record<string, unknown>, patch);
  return changed(call, `Schema configuration of integration ${integration.id} "${integration.name}" changed`);
}

/** POST /_console/tags: `name` is required, `description` and `owner` are optional. */
export function createTag(call: Call): CallResult {
  const { account, body, now } = call;
  const name = requiredString(body, "name");
  const [description, owner] = [optionalString(body, "description") ?? "", optionalString(body, "owner") ?? ""];
  const id = uuidOf(`tag ${nextSequence(account)}`).slice(0, 8);
  const at = now.toISOString();
  account.tags.push({ id, name, description, owner, origin: "custom", createdAt: at, lastUpdatedAt: at, relations: [] });
  return changed(call, `Tag ${id} "${name}" created`, { id });
}

/** DELETE /_console/tags/{id}. */
export function deleteTag(call: Call): CallResult {
  const { id, name } = tagOf(call);
  call.account.tags = call.account.tags.filter((tag) => tag.id !== id);
  return changed(call, `Tag ${id} "${name}" deleted`);
}

/** DELETE /_console/tags/{id}/relation: body `resourceId` and `resourceType`. */
export function detachTag(call: Call): CallResult {
  const tag = tagOf(call);
  const resourceId = requiredString(call.body, "resourceId");
  const resourceType = resourceTypeOf(requiredString(call.body, "resourceType"));
  const kept = tag.relations.filter((relation) => relation.resourceId !== resourceId || relation.resourceType !== resourceType);
  if (kept.length === tag.relations.length) throw notFound("relation", resourceId);
  tag.relations = kept;
  return changed(call, `Tag ${tag.id} "${tag.name}" detached from ${resourceType} ${resourceId}`);
}

/** DELETE /_console/assets/{id}; refused (409) while an integration uses it. */
export function deleteAsset(call: Call): CallResult {
  const { id, name } = assetOf(call);
  const { account } = call;
  if (isUsed(account, id)) throw new Refusal(409, "in_use", "An integration uses this asset.");
  account.assets = account.assets.filter((asset) => asset.id !== id);
  return changed(call, `Asset ${id} "${name}" deleted`);
}

const isUsed = ({ integrations }: AccountState, asset: string): boolean =>
  integrations.some(({ source, destination }) => source.id === asset || destination.id === asset);

function changed(call: Call, event: string, data?: object): CallResult {
  record(call.account, call.by, call.now, event);
  return success(data, event);
}

function mergePatch(target: Record<string, unknown>, patch: JsonObject): void {
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      delete target[name];
      continue;
    }
    const before = own(target, name);
    if (!isObject(value)) {
      put(target, name, value);
      continue;
    }
    const inner: Record<string, unknown> = isObject(before) ? before : {};
    put(target, name, inner);
    mergePatch(inner, value);
  }
}
