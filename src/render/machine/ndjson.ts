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
  for (const [event, entries] of lists(document)) for (const entry of entries) yield line(event, { ...target, [event]: entry });
  const end = Object.fromEntries(Object.entries(document).filter(([key]) => !listMembers.has(key)));
  yield line("end", { ...target, document: end });
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

type List = readonly [event: string, entries: readonly unknown[]];

function lists(document: Document): readonly List[] {
  const common: readonly List[] = [["diagnostic", document.diagnostics]];
  if (document.kind === "Validation") return common;
  const shared: readonly List[] = [["manual", document.manual], ["guard", document.guards], ["policy", document.policy], ...common];
  const held: List = ["held", document.held ?? []];
  if (document.kind === "Result") return [["outcome", document.items], held, ...shared];
  return [
    ["item", document.items],
    ["deferred", document.deferred],
    held,
    ["blocked", document.blocked],
    ["unverifiable", document.unverifiable],
    ["released", document.released ?? []],
    ["impact", document.impact ?? []],
    ["newColumn", document.newColumns ?? []],
    ["goneColumn", document.goneColumns ?? []],
    ["neverReviewed", document.neverReviewed ?? []],
    ...shared,
  ];
}

const listMembers = new Set([
  "items",
  "manual",
  "blocked",
  "deferred",
  "held",
  "unverifiable",
  "released",
  "impact",
  "newColumns",
  "goneColumns",
  "neverReviewed",
  "seenColumns",
  "policy",
  "guards",
  "diagnostics",
]);

const line = (event: string, members: Readonly<Record<string, unknown>>): string =>
  `${printableJson(JSON.stringify({ formatVersion: "2.0", event, ...members }))}\n`;
