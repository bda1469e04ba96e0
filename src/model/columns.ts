import type { Address } from "./address.ts";
import type { LiveSchemas } from "./live.ts";

/** A live column that nobody has reviewed. */
export interface NewColumn {
  /** "Schemas/orders" */
  readonly address: Address;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  /** The label that a Classification gives it, if any. */
  readonly label?: string;
  /** Whether the service replicates it now. */
  readonly replicated: boolean;
  readonly hashed: boolean;
  /** ISO 8601: the column was added after this time. Absent: not known. */
  readonly since?: string;
}

/** A reviewed column that the account no longer has. */
export type GoneColumn = Pick<NewColumn, "address" | "schema" | "table" | "column">;

/** Columns of one table. */
export interface TableColumns {
  readonly schema: string;
  readonly table: string;
  /** In the order of the response. */
  readonly columns: readonly string[];
}

/** How the columns of one integration differ from those that someone has reviewed. */
export interface ReviewedUnit {
  readonly added: readonly TableColumns[];
  readonly gone: readonly TableColumns[];
}

/** An integration: the address of its schemas, its name in addresses, and its live id. */
export interface ReviewedIntegration {
  readonly address: Address;
  readonly name: string;
  readonly liveId: string;
}

/** Knows which columns someone has reviewed (src/catalog). */
export interface ColumnReview {
  /** Whether columns are compared with the catalog file, not only with those that the last run saw. */
  readonly hasFile: boolean;
  /** Tables whose columns are not known are not compared. */
  readonly compare: (integration: ReviewedIntegration, live: LiveSchemas) => ReviewedUnit;
  /** The columns of all integrations as they are now, for the records: what was compared, and earlier runs' for the others. */
  readonly seen: () => readonly SeenGroup[];
  /** ISO 8601: the column was added after this time, if that is known. */
  readonly since: (integration: ReviewedIntegration, column: Omit<GoneColumn, "address">) => string | undefined;
}

/** The columns that runs have recorded, by integration: those of equal integrations once. */
export interface SeenColumns {
  /** ISO 8601: when columns were recorded last. */
  readonly at: string;
  readonly groups: readonly SeenGroup[];
}

export interface SeenGroup {
  /** Live ids. */
  readonly integrations: readonly string[];
  /** ISO 8601: the recording before the one that saw the columns first. Absent: they were in the first. */
  readonly after?: string;
  /** The names of columns by schema and table, sorted. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}
