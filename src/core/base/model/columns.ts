import type { Address } from "./address.ts";
import type { LiveSchemas } from "./live.ts";
import type { NamedObject } from "./plan.ts";
import type { Problem, SourceLocation } from "./problem.ts";
import type { ColumnPatterns } from "./specs.generated.d.ts";

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

// Labels of columns, such as pii, as Classifications define them.

/** Where a label comes from: the last part of "hashed: true ← rule pii ← label pii ← …". */
export interface LabelOrigin {
  /** "models/sources.yml, source shop.customers.email, meta.contains_pii"; without the position in `place`. */
  readonly text: string;
  readonly reason?: string;
  /** The entry of the Classification. */
  readonly place: SourceLocation;
  /** Whether the text names a manifest, so that the line of `place` belongs to it. */
  readonly isInManifest: boolean;
}

interface Labelling {
  readonly label: string;
  readonly origin: LabelOrigin;
}

/** Columns that have a label because of their names in the source. */
export interface LabelPatterns extends Labelling {
  readonly match: ColumnPatterns;
}

/** One column that a file labels. */
export interface LabelledColumn extends Labelling {
  /** "destination": by its names in the destination, whatever their case; "source": by its names in the source. */
  readonly side: "destination" | "source";
  /** A glob for names of integrations; absent: all. */
  readonly integration?: string;
  readonly schema: string;
  readonly table: string;
  /** Absent: every column of the table but `except`, which describe themselves. */
  readonly column?: string;
  readonly except?: readonly string[];
  /** What describes the column: one dbt source, or one CSV file. Two that give it different labels are reported. */
  readonly describedBy: string;
}

/** The labels of a project. */
export interface ColumnLabels {
  /** Sorted. */
  readonly defined: readonly string[];
  readonly patterns: readonly LabelPatterns[];
  readonly columns: readonly LabelledColumn[];
}
