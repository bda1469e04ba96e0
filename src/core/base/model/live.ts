import type { IntegrationSettings } from "./manifest.ts";

/** What the service's GET calls return, after decoding (docs/service-interface.md#overview). Read-only; both response forms are decoded to this one. */

export interface LiveReference {
  /** "" if the service shows none; likewise the others. */
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** docs/service-interface.md#integrations. Some services show more settings of one integration. */
export interface LiveIntegration extends Omit<IntegrationSettings, "name" | "paused"> {
  readonly id: string;
  /** "" if the service shows none. */
  readonly name: string;
  readonly createdAt: string | undefined;
  readonly paused: boolean | undefined;
  /** Absent in drafts, which have no source or destination yet. */
  readonly source: LiveReference | undefined;
  readonly destination: LiveReference | undefined;
  readonly isDraft?: true;
  /** The service still creates it, and shows nothing of it. */
  readonly isInCreation?: true;
}

// In schemas, an absent member is unknown: it is not compared, and nothing is made up for it.

/** docs/service-interface.md#schema-configuration, column entry */
export interface LiveColumn {
  readonly nameInDestination?: string;
  readonly enabled?: boolean;
  readonly hashed?: boolean;
  readonly isPrimaryKey?: boolean;
}

/** docs/service-interface.md#schema-configuration, table entry. `columns` absent means unknown, never empty. */
export interface LiveTable {
  readonly nameInDestination?: string;
  readonly enabled?: boolean;
  readonly syncMode?: string;
  readonly cursorField?: string;
  /** Any JSON; `allowed: false` in it means that requests change nothing of the table. */
  readonly enabledPatchSettings?: unknown;
  readonly columns?: Readonly<Record<string, LiveColumn>>;
}

/** docs/service-interface.md#schema-configuration, schema entry */
export interface LiveSchema {
  readonly nameInDestination?: string;
  readonly enabled?: boolean;
  readonly tables: Readonly<Record<string, LiveTable>>;
}

/** By schema name. Names come from the source: look them up with `own`. */
export type LiveSchemas = Readonly<Record<string, LiveSchema>>;

/** docs/service-interface.md#users */
export interface LiveUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | undefined;
  readonly createdAt: string | undefined;
}

/** docs/service-interface.md#audit-log */
export interface AuditEntry {
  readonly id: string;
  readonly timestamp: string;
  readonly event: string;
  readonly actor: { readonly type: string | undefined; readonly email: string | undefined };
  readonly context: { readonly ipAddress: string | undefined; readonly userAgent: string | undefined };
}
