/**
 * The account as the service keeps it: plain JSON, so that it can be a file. Members are mutable on purpose: the service, `mutate` and
 * test builders change them in place. Every key of a map and every id is an ordinary string, `__proto__` included: look up with `own`.
 */
export interface AccountState {
  users: UserRecord[];
  assets: AssetRecord[];
  integrations: IntegrationRecord[];
  tags: TagRecord[];
  /** In the order in which things happened. */
  auditLogs: AuditRecord[];
  /** What a new integration finds in its source: keyed `type/database`, for example `postgres/orders`; `default` for all others. */
  catalogue: Record<string, SchemaMap>;
  /** Source of every new id except integrations' numbers; only grows. */
  sequence: number;
  /** The next int64 number of an integration in decimal: text, because it exceeds what a JavaScript number holds exactly. */
  nextIntegrationNumber: string;
}

/** interface §2.8. */
export interface UserRecord {
  id: string;
  email: string;
  createdAt: string;
  name: string;
}

/** interface §2.2: how an integration shows its source and destination. */
export interface Reference {
  id: string;
  name: string;
  type: string;
}

/** interface §2.6, all of it kept, though the interface returns only id, name and type. */
export interface AssetRecord extends Reference {
  description: string;
  /** `""` where the create call left it out. */
  connectionType: "source" | "destination" | "";
  connection: Record<string, unknown>;
}

/** interface §2.2, with what the interface never returns: the number, the settings and the state of discovery. */
export interface IntegrationRecord {
  id: string;
  /** int64 in decimal. */
  number: string;
  name: string;
  createdAt: string;
  paused: boolean;
  source: Reference;
  destination: Reference;
  settings: IntegrationSettings;
  schemas: SchemaMap;
  /** Present until the schema has been discovered; GET schemas answers an empty map as long. */
  pendingDiscovery?: PendingDiscovery;
}

/** Write-only members of POST /v1/integrations (interface §4.1); `sourceConfig` without its connection, which the source asset keeps. */
export interface IntegrationSettings {
  destinationSchema: string;
  replicationFrequency: string;
  onSchemaUpdate: string;
  sourceConfig: Record<string, unknown>;
  sourceSettings: Record<string, unknown>;
}

export interface PendingDiscovery {
  schemas: SchemaMap;
  /** ISO 8601; discovered at or after this time. */
  at?: string;
  /** How many more GET schemas find nothing. */
  emptyReads?: number;
}

/** interface §2.3: schema name to entry. */
export type SchemaMap = Record<string, SchemaEntry>;

export interface SchemaEntry {
  nameInDestination: string;
  enabled: boolean;
  tables: Record<string, TableEntry>;
}

export interface TableEntry {
  nameInDestination: string;
  enabled: boolean;
  syncMode: string;
  cursorField?: string;
  columns: Record<string, ColumnEntry>;
}

export interface ColumnEntry {
  nameInDestination: string;
  enabled: boolean;
  hashed: boolean;
  isPrimaryKey: boolean;
}

/** interface §2.4, with the relations that only GET of one tag shows (as ids). */
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

/** interface §2.5. */
export interface TagRelation {
  resourceId: string;
  resourceType: ResourceType;
  taggedBy: string;
}

export type ResourceType = "Integration" | "DataAsset" | "Monitor";

/** interface §2.7. */
export interface AuditRecord {
  id: string;
  timestamp: string;
  event: string;
  actor: { type: string; email: string };
  context: { ipAddress: string; userAgent: string };
}
