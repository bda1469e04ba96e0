import type { Address } from "./address.ts";
import { type Pointer, toPointer } from "./json/pointer.ts";
import { type Code, titles } from "./titles.ts";

export type Severity = "error" | "warning" | "info";

/** A position in a manifest. Line and column are only looked up to show a problem or a changed value. */
export interface SourceLocation {
  /** As the user would type it: relative to the working directory, or absolute outside it. */
  readonly file: string;
  /** Position of the YAML document in the file, from 0. */
  readonly document: number;
  /** Within the document; "" is the document itself. */
  readonly pointer: Pointer;
  /** The key or the value at the pointer. Default: the value. */
  readonly on?: "key" | "value";
}

/** A mistake that a user can fix. Problems are collected, not thrown. */
export interface Problem {
  readonly code: Code;
  readonly severity: Severity;
  /** What is wrong, why it matters, and what to do, in full sentences. Never contains a secret. The code has the title (titles.ts). */
  readonly message: string;
  readonly place?: SourceLocation;
  readonly address?: Address;
  /** A command to run, on a line of its own. */
  readonly command?: string;
  /** Of a failed read: the status of the response, if there was one. */
  readonly status?: number;
  /** Something could not be read, so the plan is incomplete. Not part of a diagnostic. */
  readonly isIncomplete?: true;
  /** Of a failed read: the request, "GET /v1/tags", and a key that all reads have which failed for the same reason. Not part of a diagnostic. */
  readonly read?: { readonly call: string; readonly cause: string };
}

/** What a problem says; an error unless it has another severity. */
export type ProblemText = Pick<Problem, "code" | "message" | "address" | "command"> & Partial<Pick<Problem, "severity">>;

/** A problem at a place, if that is known. */
export const problemAt = (place: SourceLocation | undefined, text: ProblemText): Problem => ({
  severity: "error",
  ...text,
  ...(place === undefined ? {} : { place }),
});

export const isError = ({ severity }: { readonly severity: Severity }): boolean => severity === "error";

/** Whether it is a read that failed: it blocks what needs it, and nothing else. */
export const isFailedRead = ({ code }: { readonly code: Code }): boolean => code === "E_READ_FAILED" || code === "E_COLUMN_READS";

/** Whether nothing may be sent because of it. */
export const stopsApply = (problem: { readonly severity: Severity; readonly code: Code }): boolean =>
  isError(problem) && !isFailedRead(problem);

/** A place below another one, if that is known. */
export const below = (place: SourceLocation | undefined, path: readonly string[]): SourceLocation | undefined =>
  place === undefined ? undefined : { ...place, pointer: place.pointer + toPointer(path) };

/** A problem with its position. Lines and columns count from 1. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** The title of the code. */
  readonly summary: string;
  readonly message: string;
  readonly address?: Address;
  readonly command?: string;
  /** Of a failed read: the status of the response, if there was one. */
  readonly status?: number;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The source line and a caret line below it; literal secrets are masked. */
  readonly excerpt?: readonly [source: string, caret: string];
}

/** "manifests/pii.yaml:9:3", as far as known; "" without a file. Raw. */
export function placeText({
  file,
  line,
  column,
}: { readonly [Part in "file" | "line" | "column"]?: Diagnostic[Part] | undefined }): string {
  const parts = line === undefined ? [file] : [file, line, column];
  return file === undefined ? "" : parts.filter((part) => part !== undefined).join(":");
}

/** Looks up a position. For a file that no longer exists, only the file is known. */
export type Locate = (place: SourceLocation) => {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: readonly [string, string];
};

export function toDiagnostic(problem: Problem, locate: Locate): Diagnostic {
  const { code, severity, place, read: _read, isIncomplete: _isIncomplete, ...rest } = problem;
  return { code, severity, summary: titles[code], ...rest, ...(place === undefined ? {} : locate(place)) };
}
