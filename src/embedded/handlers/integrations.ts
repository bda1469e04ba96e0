import { createHash } from "node:crypto";
import type { AccountState, IntegrationRecord } from "../data/account.ts";
import { advanceDiscovery, beginDiscovery, discover } from "../data/discovery.ts";
import { isObject, type JsonObject, own } from "../data/own.ts";
import { mergeSchemas, snakeForm } from "../data/schema-map.ts";
import { type Call, type CallResult, invalid, notFound, param, requiredString, success } from "../http/call.ts";
import { pageOf } from "../http/paging.ts";
import { nextSequence, record } from "./audit.ts";

/** GET /v1/integrations (docs/service-interface.md#integrations). */
export function listIntegrations({ account, options, query }: Call): CallResult {
  return success(pageOf(account.integrations.map(shown), options.paging, query));
}

/** GET /v1/integrations/{id} (docs/service-interface.md#integrations). */
export function getIntegration(call: Call): CallResult {
  return success({ integration: shown(integrationOf(call)) });
}

/** POST /v1/integrations (docs/service-interface.md#integrations). Names are not unique: the same body twice makes two integrations. */
export function createIntegration(call: Call): CallResult {
  const { account, options, body, by, now } = call;
  const { settings, connection, enabled } = creationOf(call);
  const { name, type } = settings.sourceConfig;
  const destinationId = requiredString(body, "destinationId");
  const destination = account.assets.find((asset) => asset.id === destinationId && asset.connectionType !== "source");
  if (destination === undefined) throw invalid(`There is no destination asset with the id ${JSON.stringify(destinationId)}.`);

  const number = account.nextIntegrationNumber;
  // Odd from an odd start: above 2^53 only even integers survive a JavaScript number, so every rounded id shows.
  account.nextIntegrationNumber = String(BigInt(number) + 2n);
  const source = { id: `s-${nextSequence(account)}`, name, type };
  account.assets.push({ ...source, description: "", connectionType: "source", connection });
  const intOnly = options.createAnswer === "intOnly";
  const integration: IntegrationRecord = {
    id: intOnly ? number : createHash("sha256").update(`integration ${number}`).digest("hex").slice(0, 8),
    number,
    name,
    createdAt: now.toISOString(),
    paused: !enabled,
    source,
    destination: { id: destination.id, name: destination.name, type: destination.type },
    settings,
    schemas: {},
  };
  beginDiscovery(integration, discover(account, requiredObject(body, "sourceConfig"), settings.onSchemaUpdate), options, now);
  account.integrations.push(integration);
  const event = `Integration ${integration.id} "${name}" created, from ${type} "${name}" to ${destination.id} "${destination.name}"`;
  record(account, by, now, event);
  const data = JSON.stringify(intOnly ? {} : { id: integration.id });
  // JSON.stringify would round the int64.
  const text = `{"id":${number},"code":"created","message":"Integration created","data":${data}}`;
  return { status: options.createdStatus ?? 200, text };
}

/** The checked body of a POST, except its destination. The connection is kept apart: no response shows it. */
function creationOf({ body }: Call) {
  const settings = {
    destinationSchema: requiredString(body, "destinationSchema"),
    replicationFrequency: requiredString(body, "replicationFrequency"),
    onSchemaUpdate: requiredString(body, "onSchemaUpdate"),
    sourceSettings: { ...requiredObject(body, "sourceSettings") },
  };
  const enabled = own(body, "enabled");
  if (typeof enabled !== "boolean") throw invalid("enabled is required and must be true or false.");
  const { connection, ...rest } = requiredObject(body, "sourceConfig");
  const name = requiredString(rest, "name", "sourceConfig.");
  const type = requiredString(rest, "type", "sourceConfig.");
  const sourceConfig = { ...rest, name, type };
  return { settings: { ...settings, sourceConfig }, enabled, connection: isObject(connection) ? { ...connection } : {} };
}

/** GET /v1/integrations/{id}/schemas, in the form that the options choose (docs/service-interface.md#schema-configuration). */
export function getSchemas(call: Call): CallResult {
  const integration = integrationOf(call);
  advanceDiscovery(integration, call.now, true);
  const { schemas } = integration;
  return success({ schemas: call.options.schemaForm === "snake" ? snakeForm(schemas) : schemas });
}

/** PATCH /v1/integrations/{id}/schemas: always answers the full camelCase map with columns (docs/service-interface.md#schema-configuration). */
export function patchSchemas(call: Call): CallResult {
  const { account, body, by, now } = call;
  const integration = integrationOf(call);
  advanceDiscovery(integration, now, false);
  mergeSchemas(integration.schemas, requiredObject(body, "schemas"));
  record(account, by, now, `Schema configuration of integration ${integration.id} "${integration.name}" changed`);
  return success({ schemas: integration.schemas });
}

/** GET /v1/integrations/{id}/schemas/{schema}/tables/{table}/columns (docs/service-interface.md#schema-configuration). */
export function getColumns(call: Call): CallResult {
  const integration = integrationOf(call);
  advanceDiscovery(integration, call.now, false);
  const schema = own(integration.schemas, param(call, "schema"));
  if (schema === undefined) throw notFound("schema", param(call, "schema"));
  const table = own(schema.tables, param(call, "table"));
  if (table === undefined) throw notFound("table", param(call, "table"));
  return success({ columns: table.columns });
}

/** The integration that the path names; throws a 404. */
export function integrationOf(call: Call): IntegrationRecord {
  const id = param(call, "id");
  const found = findIntegration(call.account, id);
  if (found === undefined) throw notFound("integration", id);
  return found;
}

/** The integration of that id, if there is one. */
export function findIntegration(account: AccountState, id: string): IntegrationRecord | undefined {
  return account.integrations.find((integration) => integration.id === id);
}

function shown({ id, name, createdAt, paused, source, destination }: IntegrationRecord): object {
  return { id, name, createdAt, paused, source, destination };
}

function requiredObject(body: JsonObject, name: string): JsonObject {
  const value = own(body, name);
  if (!isObject(value)) throw invalid(`${name} is required and must be an object.`);
  return value;
}
