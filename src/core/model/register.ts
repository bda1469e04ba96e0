import type { Exit } from "./exit.ts";

// The register: what happens to every labelled column.

/** One label of one live column, and what happens to the column. */
export interface RegisterRow {
  /** The integration's name in addresses. */
  readonly integration: string;
  readonly integrationId: string;
  /** "orders-pg (postgres)" */
  readonly source: string;
  readonly destination: string;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly destinationSchema: string;
  readonly destinationTable: string;
  readonly destinationColumn: string;
  readonly label: string;
  /** What gives the column the label. */
  readonly labelSource: string;
  /** Whether the column, its table and its schema are enabled. */
  readonly replicated: boolean;
  readonly hashed: boolean;
  /** "pii (manifests/shops.yaml:9)": what decides the state; "" if no manifest does. */
  readonly rule: string;
  readonly reason: string;
  /** The reason of the exemption that lets the column break a policy; "" if there is none. */
  readonly exemption: string;
  readonly approvedBy: string;
  /** YYYY-MM-DD */
  readonly expires: string;
  /** The policies of severity error that the column breaks. */
  readonly breaks: readonly string[];
}

/** The columns of one integration with one label. */
export interface RegisterCount {
  readonly integration: string;
  readonly label: string;
  readonly columns: number;
  /** Not replicated. */
  readonly off: number;
  readonly hashed: number;
  /** Replicated as readable values. */
  readonly readable: number;
  /** How many of those an exemption covers. */
  readonly exempt: number;
  /** How many break a policy of severity error. */
  readonly breaking: number;
}

export interface Register {
  readonly target: string;
  /** The time that it describes, ISO 8601. */
  readonly at: string;
  readonly account: string;
  /** By integration and label. */
  readonly summary: readonly RegisterCount[];
  /** By integration, schema, table, column and label. */
  readonly rows: readonly RegisterRow[];
  readonly exit: Exit;
}

/** "hashed", "readable" or "not replicated" */
export const stateText = ({ replicated, hashed }: Pick<RegisterRow, "replicated" | "hashed">): string =>
  !replicated ? "not replicated" : hashed ? "hashed" : "readable";
