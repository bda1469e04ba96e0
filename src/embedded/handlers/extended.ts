import { clearableSettings, type IntegrationRecord, textSettings } from "../data/account.ts";
import { isObject, own } from "../data/own.ts";
import {
  type CallResult,
  filled,
  invalid,
  okay,
  optionalString,
  RefusedCall,
  requiredString,
  type ServedCall,
  success,
} from "../http/call.ts";
import { assetOf } from "./assets.ts";
import { newId, record } from "./audit.ts";
import { createdIntegration } from "./integrations.ts";
import { resourceTypeOf, tagOf } from "./tags.ts";

// Requests that only the public descriptions of the service show.

/** PATCH /v1/integrations/{id}: absent members keep their value. The answer shows only `paused`. */
export function patchIntegration(call: ServedCall): CallResult {
  const { account, body, by, now, options } = call;
  const integration = createdIntegration(call);
  const { settings } = integration;
  const paused = own(body, "paused") ?? integration.paused;
  if (typeof paused !== "boolean") throw invalid("paused must be true or false.");
  const sourceSettings = own(body, "sourceSettings");
  if (sourceSettings !== undefined && !(isObject(sourceSettings) && Object.keys(sourceSettings).every((name) => name === "customReports")))
    throw invalid("sourceSettings cannot be changed.");
  const texts = ["name", ...textSettings].flatMap((name) =>
    Object.hasOwn(body, name) ? [[name, requiredString(body, name)] as const] : [],
  );
  const { name = integration.name, ...changed } = Object.fromEntries(texts);
  const cleared = clearableSettings.flatMap((one) =>
    Object.hasOwn(body, one) ? [[one, body[one] === null ? null : requiredString(body, one)] as const] : [],
  );
  checkAgent(call, integration, Object.fromEntries(cleared)["agentId"]);
  Object.assign(integration, { name, paused });
  Object.assign(settings, changed, Object.fromEntries(cleared));
  record(account, by, now, `Integration ${integration.id} "${integration.name}" updated`);
  return okay(options, { paused: integration.paused });
}

/** The agent of a source is that of its integrations. */
function checkAgent({ account }: ServedCall, { source }: IntegrationRecord, wanted: string | null | undefined): void {
  const agent = account.assets.find(({ id }) => id === source.id)?.configuration?.["agentId"];
  if (wanted !== undefined && typeof agent === "string" && wanted !== agent)
    throw new RefusedCall(400, "SOURCE_AGENT_MISMATCH", "The source has another agent.");
}

/** POST /v1/tags: two tags can have one name. */
export function postTag(call: ServedCall): CallResult {
  const owner = requiredString(call.body, "owner");
  if (!call.account.users.some((user) => user.id === owner)) throw invalid("owner must be the id of a user.");
  return createTag(call);
}

/** POST /_console/tags: as in the web pages, without an owner, too. */
export function createTag(call: ServedCall): CallResult {
  const { account, body, by, now } = call;
  const [name, owner] = [requiredString(body, "name"), optionalString(body, "owner") ?? ""];
  if (name === "") throw invalid("name must not be empty.");
  const description = optionalString(body, "description") ?? "";
  const id = newId(call, "t");
  const at = now.toISOString();
  account.tags.push({ id, name, description, owner, origin: "custom", createdAt: at, lastUpdatedAt: at, relations: [] });
  record(account, by, now, `Tag ${id} "${name}" created`);
  return success({ id }, "Tag created");
}

/** DELETE /v1/tags/{id}/relation: a relation that is not there is removed, too. */
export function unrelateTag(call: ServedCall): CallResult {
  const { account, body, by, now } = call;
  const tag = tagOf(call);
  const resourceId = requiredString(body, "resourceId");
  const resourceType = resourceTypeOf(requiredString(body, "resourceType"));
  tag.relations = tag.relations.filter((relation) => relation.resourceId !== resourceId || relation.resourceType !== resourceType);
  record(account, by, now, `Tag ${tag.id} "${tag.name}" detached from ${resourceType} ${resourceId}`);
  return success(undefined, "Tag relation removed");
}

/** GET /v1/assets/{id}: owners as objects, and of the connection only the host. */
export function getAsset(call: ServedCall): CallResult {
  const { id, name, type, description, connectionType, authMethod, owners, configuration, connection } = assetOf(call);
  const host = Object.fromEntries(
    ["host", "hostname"].flatMap((member) => (own(connection, member) === undefined ? [] : [[member, connection[member]]])),
  );
  const shown = {
    ...{ id, name, type, description, connectionType, authMethod, configuration },
    owners: owners?.map((owner) => ({ _id: owner })),
    connection: Object.keys(host).length === 0 ? undefined : host,
  };
  return okay(call.options, filled(shown, call.options));
}
