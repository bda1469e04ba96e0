import type { Plan, Result, Validation } from "../model/plan.ts";

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
}

/** One output format: results in, text out, ending in a newline. */
export type Renderer = (document: Document, options: RenderOptions) => string;
