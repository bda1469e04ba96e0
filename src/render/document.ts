import type { Manual, Plan } from "../model/plan.ts";
import type { Result, Validation } from "../model/result.ts";

/** What a command ends with, and what every output format shows. */
export type Document = Plan | Result | Validation;

export interface RenderOptions {
  readonly color: boolean;
  /** Columns of the terminal; 100 where unknown. */
  readonly width?: number;
  /** Everything in full: no grouping, no cut values, request bodies. */
  readonly verbose: boolean;
  /** Most characters (UTF-16 units) of a Markdown document; 60 000 where not given. */
  readonly budget?: number;
  /** Leads from the repository's root to the folder that files are relative to, with a slash at its end ("deploy/"); "" where not given. */
  readonly filePrefix?: string;
  /** JUnit: a case names its file and line in attributes, as GitLab links them. */
  readonly caseFiles?: boolean;
  /** What went before a drift report, by its planId. */
  readonly history?: ReadonlyMap<string, ReportHistory>;
}

/** One report of the past, for the chart. */
export interface HistoryPoint {
  /** ISO 8601 */
  readonly at: string;
  /** The same in milliseconds since 1970. */
  readonly ms: number;
  readonly differences: number;
  /** Of those, how many left the account more exposed than declared. */
  readonly exposed: number;
  readonly manual: number;
}

/** What went before a drift report. */
export interface ReportHistory {
  /** Oldest first; the report itself is the last one. */
  readonly points: readonly HistoryPoint[];
  /** Manual steps of the report before that this one no longer lists. */
  readonly done: readonly Pick<Manual, "id" | "address" | "path" | "instruction">[];
}

/** One output format: results in, text out, ending in a newline. */
export type Renderer = (document: Document, options: RenderOptions) => string;
