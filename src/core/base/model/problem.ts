import type { Address } from "./address.ts";
import type { Finding } from "./documents.generated.d.ts";
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

/** A problem with its position. */
export type Diagnostic = Finding & { readonly rule: Code } & Required<Pick<Finding, "summary">>;

export const isDiagnostic = (finding: Finding): finding is Diagnostic => finding.summary !== undefined;

/** The problems of a document. */
export const diagnosticsIn = ({ findings }: { readonly findings: readonly Finding[] }): readonly Diagnostic[] =>
  findings.filter(isDiagnostic);

/** Whether nothing may be sent because of it. A read that failed blocks what needs it, and nothing else. */
export const stopsApply = (finding: Finding): boolean =>
  isDiagnostic(finding) && isError(finding) && finding.rule !== "E_READ_FAILED" && finding.rule !== "E_COLUMN_READS";

/** A place below another one, if that is known. */
export const below = (place: SourceLocation | undefined, path: readonly string[]): SourceLocation | undefined =>
  place === undefined ? undefined : { ...place, pointer: place.pointer + toPointer(path) };

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
  return { rule: code, severity, summary: titles[code], ...rest, ...(place === undefined ? {} : locate(place)) };
}
