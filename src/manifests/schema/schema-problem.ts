import type { Pointer } from "../../model/json/pointer.ts";
import type { Code } from "../../model/titles.ts";
import type { Schema } from "./lookup.ts";
import type { SchemaError } from "./schema-error.ts";

/**
 * A schema error as a message. `rank`: of several errors at one location the one with the lowest
 * rank is shown.
 */
export interface SchemaProblem {
  readonly pointer: Pointer;
  readonly on: "key" | "value";
  readonly rank: number;
  readonly code: Code;
  readonly message: string;
  /** The key that was probably meant instead of an unknown one. */
  readonly suggested?: Pointer;
  /** Keys that are missing. */
  readonly missing?: readonly Pointer[];
}

export interface ProblemContext {
  readonly kind: string;
  readonly value: unknown;
  /** Whether a value may be quoted: not if it is secret or came from a variable. */
  readonly mayQuote: (pointer: Pointer) => boolean;
  /** Whether a value came from a variable. */
  readonly isReplaced: (pointer: Pointer) => boolean;
  /** The schema of the value at a path. */
  readonly partsAt: (pointer: Pointer) => readonly Schema[];
}

/** Where an error is, with the texts and values that messages need. */
export interface ErrorAt extends ProblemContext {
  readonly pointer: Pointer;
  /** The location for a sentence: "`spec.create`", or "The document". */
  readonly subject: string;
  /** The value at the pointer. */
  readonly found: unknown;
}

/** The message for the errors of one JSON Schema keyword; undefined if another error already covers it. */
export type ToProblem = (error: SchemaError, at: ErrorAt) => SchemaProblem | undefined;
