/**
 * The account as the service stores it: plain JSON, so that it can be a file. Members are mutable
 * on purpose: the service, `mutate` and test builders change them in place. Every key of a map and
 * every id is an ordinary string, `__proto__` included: look up with `own`.
 */
export interface AccountState {
  users: UserRecord[];
  assets: AssetRecord[];
  integrations: IntegrationRecord[];
  tags: TagRecord[];
  /** Oldest first. */
  auditLogs: AuditRecord[];
  /** The tables that a new integration discovers in its source, keyed `type/database`, for example `postgres/orders`; `default` for all others. */
  catalogue: Record<string, SchemaMap>;
  /** Source of every new id except integrations' numbers. Only increases. */
  sequence: number;
  /** E-mail address of a user → API key; present in a file if the option `keysFor` made some. */
  keys?: Record<string, string>;
  /** The next int64 number of an integration in decimal: text, because it exceeds what a JavaScript number holds exactly. */
  nextIntegrationNumber: string;
}

export interface UserRecord {
  id: string;
  email: string;
  createdAt: string;
  name: string;
}

/** docs/service-interface.md#integrations: how an integration shows its source and destination. */
export interface NamedReference {
  id: string;
  name: string;
  type: string;
}

/** docs/service-interface.md#assets, all of it kept, though the interface returns only id, name and type. */
export interface AssetRecord extends NamedReference {
  description: string;
  /** `""` if the create call omitted it. `multi_purpose`: the connection has one block per purpose. */
  connectionType: "source" | "destination" | "multi_purpose" | "";
  connection: Record<string, unknown>;
  authMethod?: string;
  owners?: readonly unknown[];
  configuration?: Record<string, unknown>;
}

/** docs/service-interface.md#integrations, with the members that the interface never returns: the number, the settings and the state of discovery. */
export interface IntegrationRecord extends Unshown {
  id: string;
  /** int64 in decimal. */
  number: string;
  name: string;
  createdAt: string;
  paused: boolean;
  source: NamedReference;
  destination: NamedReference;
  settings: StoredSettings;
  schemas: SchemaMap;
  /** Present until the schema has been discovered; see `whileCreating`. */
  pendingDiscovery?: PendingDiscovery;
  /** Why its creation failed, which every request for it says from then on. */
  failure?: string;
  /** `draft`: somebody began it. `reverse`: from a warehouse to an application. Neither has schemas. */
  kind?: "draft" | "reverse";
  /** Members that responses show instead of those of the record. */
  shownAs?: Record<string, unknown>;
}

/** The settings that PATCH changes besides the name and `paused`. `""` if the create call omitted one. */
export const textSettings = ["destinationSchema", "replicationFrequency", "onSchemaUpdate"] as const;
/** Null clears these. */
export const clearableSettings = ["cronExpression", "baseTime", "agentId"] as const;

/** Members of POST /v1/integrations (docs/service-interface.md#integrations); `sourceConfig` without its connection, which the source asset keeps. */
export interface StoredSettings
  extends Record<(typeof textSettings)[number], string>,
    Partial<Record<(typeof clearableSettings)[number], string | null>> {
  sourceConfig: Record<string, unknown>;
  sourceSettings: Record<string, unknown>;
  destinationSettings?: Record<string, unknown>;
}

export interface PendingDiscovery {
  schemas: SchemaMap;
  /** ISO 8601; discovered at or after this time. */
  at?: string;
  /** Number of requests that are still answered as if there were no schemas: GET schemas, or all that are refused meanwhile. */
  emptyReads?: number;
}

export interface Unshown {
  /** Members that no response shows; of schemas, no response with recorded members. A cursor field that is not shown cannot be chosen. */
  unshown?: string[];
}

/** docs/service-interface.md#schema-configuration: schema name to entry. */
export type SchemaMap = Record<string, StoredSchema>;

export interface StoredSchema extends Unshown {
  nameInDestination: string;
  enabled: boolean;
  tables: Record<string, TableEntry>;
}

export interface TableEntry extends Unshown {
  nameInDestination: string;
  enabled: boolean;
  syncMode: string;
  cursorField?: string;
  /** A nested list of another table: it is listed, and no write changes it. */
  isSubtable?: true;
  columns: Record<string, ColumnEntry>;
}

export interface ColumnEntry extends Unshown {
  nameInDestination: string;
  enabled: boolean;
  hashed: boolean;
  isPrimaryKey: boolean;
}

/** docs/service-interface.md#tags, with the relations that only GET of one tag shows (as ids). */
export interface TagRecord {
  id: string;
  name: string;
  description: string;
  owner: string;
  origin: string;
  createdAt: string;
  lastUpdatedAt: string;
  relations: TagRelation[];
}

export interface TagRelation {
  resourceId: string;
  resourceType: ResourceType;
  taggedBy: string;
}

export type ResourceType = "Integration" | "DataAsset" | "Monitor";

export interface AuditRecord {
  id: string;
  timestamp: string;
  event: string;
  actor: { type: string; email: string };
  context: { ipAddress: string; userAgent: string };
}
