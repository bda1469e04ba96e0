import type { Address } from "./address.ts";
import type { LiveSchemas } from "./live.ts";
import type { NamedObject } from "./plan.ts";
import type { Problem } from "./problem.ts";

/** Columns of one table. */
export interface TableColumns {
  readonly schema: string;
  readonly table: string;
  /** In the order of the response. */
  readonly columns: readonly string[];
  /** Whether the account has no such table any more. */
  readonly isTableGone?: true;
}

/** A live integration: its schemas' address, its live id, and what the service calls it. */
export interface ReviewedIntegration extends NamedObject {
  readonly address: Address;
}

/** How the columns of one integration differ from those that someone has reviewed. */
export interface ReviewedUnit {
  /** Whether the catalog has the integration. Otherwise, nothing of it is new or gone. */
  readonly isReviewed: boolean;
  readonly added: readonly TableColumns[];
  readonly gone: readonly TableColumns[];
}

/** Knows which columns someone has reviewed (src/core/columns/catalog). */
export interface ColumnReview {
  /** Tables whose columns are not known are not compared. */
  readonly compare: (integration: ReviewedIntegration, live: LiveSchemas) => ReviewedUnit;
  /** Ids in the catalog that the account does not have; `live` is its whole list. */
  readonly problems: (live: readonly NamedObject[]) => readonly Problem[];
}
