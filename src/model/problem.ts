import type { Address } from "./address.ts";
import type { Pointer } from "./pointer.ts";

export type Severity = "error" | "warning" | "info";

/** A place in a manifest. Line and column are looked up only where a problem or a changed value is shown. */
export interface SourceLocation {
  /** As the user would type it: relative to the working directory, or absolute outside it. */
  readonly file: string;
  /** Position of the YAML document in the file, from 0. */
  readonly document: number;
  /** Within the document; "" is the document itself. */
  readonly pointer: Pointer;
  /** Whether the key or the value is meant; the value where absent. */
  readonly on?: "key" | "value";
}

/** What a user can mend: a value that is collected, never thrown. */
export interface Problem {
  readonly code: string;
  readonly severity: Severity;
  /** A few words that hold no text of the user's. */
  readonly summary: string;
  /** What is wrong, why, and what to do, in full sentences. Never holds a secret. */
  readonly message: string;
  readonly place?: SourceLocation;
  readonly address?: Address;
  /** A command to run, alone. */
  readonly command?: string;
}

/** A problem with its place looked up. Lines and columns count from 1. */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly message: string;
  readonly address?: Address;
  readonly command?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The source line and, under it, a caret line; secret literals are masked. */
  readonly excerpt?: readonly [source: string, caret: string];
}

/** Looks a place up; without a position in the text (a file that is gone), only the file is known. */
export type Locate = (place: SourceLocation) => {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: readonly [string, string];
};

export function toDiagnostic(problem: Problem, locate: Locate): Diagnostic {
  const { place, ...rest } = problem;
  return place === undefined ? rest : { ...rest, ...locate(place) };
}
