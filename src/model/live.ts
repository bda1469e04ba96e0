/** What the service's GET calls return, after decoding (interface §2). Nothing here is ever written to; both answer forms end up in this one. */

export interface LiveReference {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** interface §2.2 */
export interface LiveIntegration {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string | undefined;
  readonly paused: boolean | undefined;
  readonly source: LiveReference;
  readonly destination: LiveReference;
}

/** interface §2.3, column entry */
export interface LiveColumn {
  readonly nameInDestination?: string;
  readonly enabled: boolean;
  readonly hashed: boolean;
  readonly isPrimaryKey?: boolean;
}

/** interface §2.3, table entry. `columns` absent means unknown, never empty. */
export interface LiveTable {
  readonly nameInDestination?: string;
  readonly enabled: boolean;
  readonly syncMode?: string;
  readonly cursorField?: string;
  readonly columns?: Readonly<Record<string, LiveColumn>>;
}

/** interface §2.3, schema entry */
export interface LiveSchema {
  readonly nameInDestination?: string;
  readonly enabled: boolean;
  readonly tables: Readonly<Record<string, LiveTable>>;
}

/** By schema name. Names are the source's: look them up with `own`. */
export type LiveSchemas = Readonly<Record<string, LiveSchema>>;

/** interface §2.4. `taggedResources` is returned by GET of one tag only. */
export interface LiveTag {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly owner: string | undefined;
  readonly origin: string | undefined;
  readonly createdAt: string | undefined;
  readonly lastUpdatedAt: string | undefined;
  readonly taggedResources?: readonly { readonly id: string }[];
}

/** interface §2.8 */
export interface LiveUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | undefined;
  readonly createdAt: string | undefined;
}

/** interface §2.7 */
export interface AuditEntry {
  readonly id: string;
  readonly timestamp: string;
  readonly event: string;
  readonly actor: { readonly type: string | undefined; readonly email: string | undefined };
  readonly context: { readonly ipAddress: string | undefined; readonly userAgent: string | undefined };
}
