import type { ExitCode } from "../../model/exit.ts";
import type { Diagnostic } from "../../model/problem.ts";
import type { ProgressEvent } from "../../model/runtime/progress.ts";
import type { Code } from "../../model/titles.ts";
import { printableJson } from "../../text/control-characters.ts";
import type { Document } from "../document.ts";

/**
 * Events, one JSON object per line: `{ "event": "progress", … }` while the command runs, then one
 * line per finding, then `{ "event": "end", … }` with the rest of the document. Every line has
 * `formatVersion` (minor = additive). Readers must skip unknown events.
 */
export const renderNdjson = (document: Document): string => [...ndjsonPieces(document)].join("");

/** The same line by line. */
export function* ndjsonPieces(document: Document): Generator<string> {
  const target = document.kind === "Validation" ? {} : { target: document.target };
  const members: Readonly<Record<string, unknown>> = { ...document };
  for (const [member, name] of Object.entries(events)) {
    const event = name === "item" && document.kind === "Result" ? "outcome" : name;
    const entries = members[member];
    if (event !== undefined && Array.isArray(entries))
      for (const entry of entries) yield line(event, { ...target, [event]: entry as unknown });
  }
  const end = Object.fromEntries(Object.entries(members).filter(([key]) => !(key in events)));
  yield line("end", { ...target, document: end });
}

export function* ndjsonOfAll(documents: readonly Document[]): Generator<string> {
  for (const document of documents) yield* ndjsonPieces(document);
}

/** `at`: ISO 8601. */
export function progressLine({ type, ...event }: ProgressEvent, at: string): string {
  return line("progress", { at, step: type, ...event });
}

export interface Failure {
  readonly code: Code;
  readonly message: string;
  readonly exit: ExitCode;
  /** Problems in the user's files, if they are the reason. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The last lines of a command that failed without a document. */
export const renderFailure = ({ diagnostics, ...failure }: Failure): string =>
  [...diagnostics.map((diagnostic) => line("diagnostic", { diagnostic })), line("error", failure)].join("");

/** The event of each list of a document, in the order of the lines; lists without an event are left out. */
const events = {
  items: "item",
  deferred: "deferred",
  held: "held",
  blocked: "blocked",
  unverifiable: "unverifiable",
  notKept: "notKept",
  loosened: "loosened",
  released: "released",
  impact: "impact",
  newColumns: "newColumn",
  goneColumns: "goneColumn",
  neverReviewed: "neverReviewed",
  seenColumns: undefined,
  covered: undefined,
  manual: "manual",
  guards: "guard",
  policy: "policy",
  diagnostics: "diagnostic",
} as const;

const line = (event: string, members: Readonly<Record<string, unknown>>): string =>
  `${printableJson(JSON.stringify({ formatVersion: "2.0", event, ...members }))}\n`;
