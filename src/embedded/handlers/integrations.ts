import type { Behaviour } from "../behaviour.ts";
import type { AccountState, IntegrationRecord } from "../data/account.ts";
import { advanceDiscovery } from "../data/discovery.ts";
import { own } from "../data/own.ts";
import { mergeSchemas, shownColumns, shownSchemas, withoutUnshown } from "../data/schema-map.ts";
import { type CallResult, dressed, notFound, okay, param, RefusedCall, requiredObject, type ServedCall } from "../http/call.ts";
import { listed } from "../http/paging.ts";
import { record } from "./audit.ts";

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
