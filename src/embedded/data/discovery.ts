import type { ServiceOptions } from "../http/call.ts";
import type { AccountState, AssetRecord, IntegrationRecord, SchemaMap, StoredSettings } from "./account.ts";
import { isObject, mapValues, own } from "./own.ts";

/**
 * The schema that a new integration discovers: the catalogue's entry `type/database`, else `default`, else none. `onSchemaUpdate` decides
 * what is enabled at first: `ignoreAll` and `pauseConnection` enable only primary keys, `enableColumnChanges` columns but no schemas or
 * tables, and any other value everything. Nothing is hashed.
 */
export function discover(account: AccountState, source: AssetRecord, { onSchemaUpdate }: StoredSettings): SchemaMap {
  const ofPurpose = own(source.connection, "etlSource");
  const database = own(isObject(ofPurpose) ? ofPurpose : source.connection, "database");
  const found = own(account.catalogue, `${source.type}/${String(database)}`) ?? own(account.catalogue, "default") ?? {};
  const nothing = onSchemaUpdate === "ignoreAll" || onSchemaUpdate === "pauseConnection";
  const tables = !nothing && onSchemaUpdate !== "enableColumnChanges";
  return mapValues(found, (schema) => ({
    ...schema,
    enabled: tables,
    tables: mapValues(schema.tables, (table) => ({
      ...table,
      enabled: tables,
      columns: mapValues(table.columns, (column) => ({ ...column, enabled: !nothing || column.isPrimaryKey, hashed: false })),
    })),
  }));
}

/** Gives a new integration its schema, at once or with the delay that the options set. */
export function beginDiscovery(integration: IntegrationRecord, schemas: SchemaMap, options: ServiceOptions, now: Date): void {
  const { discoveryDelayMs = 0, discoverAfterReads } = options;
  if (discoveryDelayMs === 0 && discoverAfterReads === 0) {
    integration.schemas = schemas;
    return;
  }
  integration.pendingDiscovery = { schemas, at: new Date(now.getTime() + discoveryDelayMs).toISOString(), emptyReads: discoverAfterReads };
}

/** Adds the schema if its delay is over. Requests that count are those that `emptyReads` counts. */
export function advanceDiscovery(integration: IntegrationRecord, now: Date, counts: boolean): void {
  const pending = integration.pendingDiscovery;
  if (pending === undefined) return;
  const emptyReads = pending.emptyReads ?? 0;
  const due = pending.at === undefined || Date.parse(pending.at) <= now.getTime();
  if (due && emptyReads <= 0) {
    integration.schemas = pending.schemas;
    delete integration.pendingDiscovery;
  } else if (counts) {
    pending.emptyReads = emptyReads - 1;
  }
}
