import type { Plan, Result, Validation } from "../base/model/plan.ts";
import type { Link } from "./blocks.ts";

/** The result of a command, which every output format renders. */
export type Document = Plan | Result | Validation;

export interface RenderOptions {
  readonly color: boolean;
  /** Columns of the terminal; 100 if unknown. */
  readonly width?: number;
  /** Full detail: each change, no shortened values, request bodies. */
  readonly verbose: boolean;
  /** Maximum length of a Markdown document in characters (UTF-16 units). Default: 60 000. */
  readonly budget?: number;
  /**
   * The path from the repository's root to the folder that files are relative to, with a slash at
   * its end ("deploy/"). Default: "".
   */
  readonly filePrefix?: string;
  /** Annotations: whether the pull request touches this line of a file, or the file. Absent: annotate any line. */
  readonly touches?: (file: string, line: number | undefined) => boolean;
  /** Drift: the user has already chosen what to do, so the report leaves out the commands that do it. */
  readonly isResolved?: boolean;
  /** Drift, in an issue: where a reader without a key acts. */
  readonly links?: DriftLinks;
}

export interface DriftLinks {
  /** The job that applies by hand. */
  readonly apply: Link;
  /** The pull request that accepts the drift. */
  readonly accept: Link;
}

/** One output format: turns results into a text that ends in a newline. */
export type Renderer = (document: Document, options: RenderOptions) => string;
