import { type AssetRecord, clearableSettings, type IntegrationRecord, type NamedReference, type StoredSettings } from "../data/account.ts";
import { beginDiscovery, discover } from "../data/discovery.ts";
import { isObject, own } from "../data/own.ts";
import {
  type CallResult,
  invalid,
  optionalObject,
  optionalString,
  RefusedCall,
  requiredObject,
  requiredString,
  type ServedCall,
} from "../http/call.ts";
import { newId, record } from "./audit.ts";

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
