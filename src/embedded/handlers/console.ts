import type { AccountState } from "../data/account.ts";
import { isObject, own, put, type UncheckedObject } from "../data/own.ts";
import { type CallResult, invalid, optionalString, RefusedCall, type ServedCall, success } from "../http/call.ts";
import { assetOf } from "./assets.ts";
import { record } from "./audit.ts";
import { integrationOf } from "./integrations.ts";
import { tagOf } from "./tags.ts";

// What users do in the service's own web pages. It is not part of the interface, so a client cannot use it.

/** POST /_console/integrations/{id}: `name`, `paused` and `failure` (why its creation failed), each optional. */
export function editIntegration(call: ServedCall): CallResult {
  const integration = integrationOf(call);
  const name = optionalString(call.body, "name");
  const paused = own(call.body, "paused");
  if (paused !== undefined && typeof paused !== "boolean") throw invalid("paused must be true or false.");
  const failure = optionalString(call.body, "failure");
  Object.assign(integration, name === undefined ? {} : { name }, paused === undefined ? {} : { paused }, failure && { failure });
  const done = failure !== undefined ? "failed" : paused === undefined ? "renamed" : paused ? "paused" : "resumed";
  return changed(call, `Integration ${integration.id} "${integration.name}" ${done}`);
}

/** DELETE /_console/integrations/{id}: its tag relations go with it, and its source asset if no other integration uses it. */
export function deleteIntegration(call: ServedCall): CallResult {
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
export function reshapeSchemas(call: ServedCall): CallResult {
  const integration = integrationOf(call);
  const patch = own(call.body, "schemas");
  if (!isObject(patch)) throw invalid("schemas is required and must be an object.");
  // Not checked: the console may give the map any form, including an invalid one.
  mergePatch(integration.schemas as Record<string, unknown>, patch);
  return changed(call, `Schema configuration of integration ${integration.id} "${integration.name}" changed`);
}

/** DELETE /_console/tags/{id}. */
export function deleteTag(call: ServedCall): CallResult {
  const { id, name } = tagOf(call);
  call.account.tags = call.account.tags.filter((tag) => tag.id !== id);
  return changed(call, `Tag ${id} "${name}" deleted`);
}

/** DELETE /_console/assets/{id}; refused (409) while an integration uses it. */
export function deleteAsset(call: ServedCall): CallResult {
  const { id, name } = assetOf(call);
  const { account } = call;
  if (isUsed(account, id)) throw new RefusedCall(409, "in_use", "An integration uses this asset.");
  account.assets = account.assets.filter((asset) => asset.id !== id);
  return changed(call, `Asset ${id} "${name}" deleted`);
}

const isUsed = ({ integrations }: AccountState, asset: string): boolean =>
  integrations.some(({ source, destination }) => source.id === asset || destination.id === asset);

function changed(call: ServedCall, event: string): CallResult {
  record(call.account, call.by, call.now, event);
  return success(undefined, event);
}

function mergePatch(target: Record<string, unknown>, patch: UncheckedObject): void {
  for (const [name, value] of Object.entries(patch)) {
    const before = own(target, name);
    const inner: Record<string, unknown> = isObject(before) ? before : {};
    if (value === null) delete target[name];
    else put(target, name, isObject(value) ? inner : value);
    if (isObject(value)) mergePatch(inner, value);
  }
}
