import {
  type AccountState,
  type AssetRecord,
  clearableSettings,
  type IntegrationRecord,
  type NamedReference,
  type StoredSettings,
} from "../data/account.ts";
import { advanceDiscovery, beginDiscovery, discover } from "../data/discovery.ts";
import { isObject, own } from "../data/own.ts";
import { mergeSchemas, shownColumns, shownSchemas, withoutUnshown } from "../data/schema-map.ts";
import {
  type CallResult,
  dressed,
  invalid,
  notFound,
  okay,
  optionalObject,
  optionalString,
  param,
  RefusedCall,
  requiredObject,
  requiredString,
  type ServedCall,
} from "../http/call.ts";
import { listed } from "../http/paging.ts";
import type { Behaviour } from "../options.ts";
import { newId, record } from "./audit.ts";

export const listIntegrations = (call: ServedCall): CallResult => listed(call, call.account.integrations, shown);

export function getIntegration(call: ServedCall): CallResult {
  const { options } = call;
  const integration = createdIntegration(call);
  const one = { ...shown(integration, options), ...(options.members === "recorded" ? shownSettings(integration) : {}) };
  return okay(options, options.integrationForm === "direct" ? one : { integration: one });
}

export function getSchemas(call: ServedCall): CallResult {
  const { options } = call;
  const integration = createdIntegration(call);
  advanceDiscovery(integration, call.now, true);
  if (integration.kind === "reverse") return okay(options, null);
  if (integration.kind === "draft") throw notFound("schema", integration.id);
  return okay(options, { schemas: shownSchemas(integration.schemas, options) });
}

/** PATCH /v1/integrations/{id}/schemas always answers the full camelCase map with columns. */
export function patchSchemas(call: ServedCall): CallResult {
  const { account, body, by, now, options } = call;
  const integration = createdIntegration(call);
  advanceDiscovery(integration, now, false);
  mergeSchemas(integration, requiredObject(body, "schemas"), options.schemaWrites);
  record(account, by, now, `Schema configuration of integration ${integration.id} "${integration.name}" changed`);
  return okay(options, { schemas: shownSchemas(integration.schemas, { ...options, schemaForm: "camel" }) });
}

export function getColumns(call: ServedCall): CallResult {
  const integration = createdIntegration(call);
  advanceDiscovery(integration, call.now, false);
  const schema = own(integration.schemas, param(call, "schema"));
  if (schema === undefined) throw notFound("schema", param(call, "schema"));
  const table = own(schema.tables, param(call, "table"));
  if (table === undefined) throw notFound("table", param(call, "table"));
  return okay(call.options, { columns: shownColumns(table, call.options) });
}

/** The integration that the path names; throws a 404. */
export function integrationOf(call: ServedCall): IntegrationRecord {
  const id = param(call, "id");
  const found = findIntegration(call.account, id);
  if (found === undefined) throw notFound("integration", id);
  return found;
}

/** The integration that the path names; throws a 404, a 409 while it is in creation, and a 400 if its creation failed. */
export function createdIntegration(call: ServedCall): IntegrationRecord {
  const integration = integrationOf(call);
  const { failure, name } = integration;
  if (failure !== undefined) throw new RefusedCall(400, "IntegrationFailed", failure);
  if (call.options.whileCreating === "empty") return integration;
  advanceDiscovery(integration, call.now, true);
  if (integration.pendingDiscovery === undefined) return integration;
  throw new RefusedCall(409, "IntegrationInCreation", `Integration "${name}" is still in creation. Try again later.`);
}

export const findIntegration = ({ integrations }: AccountState, id: string): IntegrationRecord | undefined =>
  integrations.find((integration) => integration.id === id);

function shown(integration: IntegrationRecord, options: Behaviour): object {
  const { id, name, createdAt, paused, source, destination, unshown, shownAs } = integration;
  const more = options.members === "complete" ? {} : { latestRunId: null };
  const all = { id, name, createdAt, paused, source, destination, ...more, ...shownAs };
  return dressed(withoutUnshown({ ...all, ...(unshown === undefined ? {} : { unshown }) }), options);
}

/** What GET of one integration shows of its settings. A frequency `manual` is absent, and so is what is empty. */
function shownSettings({ settings }: IntegrationRecord): object {
  const { sourceConfig: _, sourceSettings: __, ...all } = { destinationSettings: {}, ...settings };
  const isHidden = ([name, value]: readonly [string, unknown]): boolean =>
    value === null || value === "" || (name === "replicationFrequency" && value === "manual");
  return { agentId: null, ...Object.fromEntries(Object.entries(all).filter((one) => !isHidden(one))) };
}

/** Names are not unique: the same body twice makes two integrations. */
export function createIntegration(call: ServedCall): CallResult {
  const { account, options, body, by, now } = call;
  const sparse = options.creates === "sparse";
  const { source, isNew, sourceConfig } = sourceOf(call);
  const { settings, enabled } = creationOf(call, sourceConfig);
  const destination = assetFor(call, "destination", requiredString(body, "destinationId"));
  const wantedName = sparse ? optionalString(body, "name") : undefined;
  const agentId = sparse ? agentOf(call, source) : undefined;
  const tags = sparse ? tagsOf(call) : [];

  const number = account.nextIntegrationNumber;
  // Odd from an odd start: above 2^53 only even integers survive a JavaScript number, so every rounded id shows.
  account.nextIntegrationNumber = String(BigInt(number) + 2n);
  if (isNew) {
    source.id = newId(call, "s");
    account.assets.push(source);
  }
  const answersNumber = options.createAnswer === "intOnly";
  const integration: IntegrationRecord = {
    id: answersNumber ? number : newId(call, "", `integration ${number}`),
    number,
    name: wantedName ?? (sparse ? `${source.name} → ${destination.name}` : source.name),
    createdAt: now.toISOString(),
    paused: !enabled,
    source: reference(source),
    destination: reference(destination),
    settings: agentId === undefined ? settings : { ...settings, agentId },
    schemas: {},
  };
  beginDiscovery(integration, discover(account, source, settings), options, now);
  account.integrations.push(integration);
  for (const tag of tags) tag.relations.push({ resourceId: integration.id, resourceType: "Integration", taggedBy: tag.owner });
  const ends = `from ${source.type} "${source.name}" to ${destination.id} "${destination.name}"`;
  record(account, by, now, `Integration ${integration.id} "${integration.name}" created, ${ends}`);
  const data = JSON.stringify(answersNumber ? {} : { id: integration.id });
  // JSON.stringify would round the int64.
  const int64 = options.createAnswer === "dataOnly" ? "" : `"id":${number},`;
  return { status: options.createdStatus, text: `{${int64}"code":"created","message":"Integration created","data":${data}}` };
}

/** The source: an asset that is there already, or a new one, which is not yet in the account and has no id. */
function sourceOf(call: ServedCall) {
  const { body, options } = call;
  const sourceId = options.creates === "sparse" ? optionalString(body, "sourceId") : undefined;
  if (sourceId !== undefined) {
    if (Object.hasOwn(body, "sourceConfig")) throw invalid("Send either sourceId or sourceConfig.");
    const source = assetFor(call, "source", sourceId);
    return { source, isNew: false, sourceConfig: { name: source.name, type: source.type } };
  }
  const { connection, ...rest } = requiredObject(body, "sourceConfig");
  const name = requiredString(rest, "name", "sourceConfig.");
  const type = requiredString(rest, "type", "sourceConfig.");
  // The connection is kept apart: no response shows it.
  const parts = { description: "", connectionType: "source", connection: isObject(connection) ? { ...connection } : {} } as const;
  return { source: { id: "", name, type, ...parts } satisfies AssetRecord, isNew: true, sourceConfig: { ...rest, name, type } };
}

/** The checked settings of a POST. */
function creationOf({ body, options }: ServedCall, sourceConfig: StoredSettings["sourceConfig"]) {
  const sparse = options.creates === "sparse";
  const settings: StoredSettings = {
    destinationSchema: requiredString(body, "destinationSchema"),
    replicationFrequency: requiredString(body, "replicationFrequency"),
    onSchemaUpdate: (sparse ? optionalString(body, "onSchemaUpdate") : requiredString(body, "onSchemaUpdate")) ?? "",
    sourceConfig,
    sourceSettings: { ...(sparse ? optionalObject(body, "sourceSettings") : requiredObject(body, "sourceSettings")) },
  };
  for (const name of sparse ? clearableSettings : []) {
    // The agent can be null, and follows from the source.
    const value = name === "agentId" ? undefined : optionalString(body, name);
    if (value !== undefined) settings[name] = value;
  }
  const destinationSettings = sparse ? optionalObject(body, "destinationSettings") : undefined;
  if (destinationSettings !== undefined) settings.destinationSettings = { ...destinationSettings };
  const enabled = own(body, "enabled") ?? (sparse ? true : undefined);
  if (typeof enabled !== "boolean") throw invalid("enabled is required and must be true or false.");
  return { settings, enabled };
}

function assetFor({ account }: ServedCall, end: "source" | "destination", id: string): AssetRecord {
  const other = end === "source" ? "destination" : "source";
  const found = account.assets.find((asset) => asset.id === id && asset.connectionType !== other);
  if (found === undefined) throw invalid(`There is no ${end} asset with the id ${JSON.stringify(id)}.`);
  return found;
}

/** The agent of the integration, which is that of its source. */
function agentOf({ body }: ServedCall, { configuration }: AssetRecord): string | null {
  const ofSource = configuration?.["agentId"];
  const wanted = own(body, "agentId") ?? null;
  if (wanted !== null && typeof wanted !== "string") throw invalid("agentId must be a string or null.");
  if (typeof ofSource !== "string") return wanted;
  if (wanted !== null && wanted !== ofSource) throw new RefusedCall(400, "SOURCE_AGENT_MISMATCH", "The source has another agent.");
  return ofSource;
}

function tagsOf({ account, body }: ServedCall) {
  const ids = own(body, "tags") ?? [];
  if (!Array.isArray(ids)) throw invalid("tags must be a list of ids.");
  return ids.map((id: unknown) => {
    const tag = account.tags.find((one) => one.id === id);
    if (tag === undefined) throw invalid(`There is no tag with the id ${JSON.stringify(id)}.`);
    return tag;
  });
}

const reference = ({ id, name, type }: AssetRecord): NamedReference => ({ id, name, type });
