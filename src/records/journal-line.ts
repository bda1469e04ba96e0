import type { Binding } from "../model/address.ts";
import { isObject, own } from "../model/json/json.ts";
import type { LogEntry } from "./files/append-log.ts";

/**
 * A POST before it is sent, with everything that is needed to find out later whether the service
 * acted on it. Contains no value of a body.
 */
export interface Intent {
  readonly runId: string;
  readonly address: string;
  readonly kind: string;
  readonly method: string;
  /** Path below the base URL. */
  readonly path: string;
  /** Identifies the created object, as in its item. */
  readonly naturalKey?: Readonly<Record<string, string>>;
  /** Made without secrets. */
  readonly bodyDigest: string;
  /** The binding without the id: digests, never values. A create that is recovered later is recorded in the same way. */
  readonly record?: Omit<Binding, "id">;
  /** ISO 8601 */
  readonly at: string;
}

/**
 * "unknown" leaves the intent open: later plans block its address until it is settled. So does
 * "answered": the service returned the id, and the bindings may not contain it yet. "forgotten" means
 * that dimsync no longer manages an object that it created (unbind).
 */
export interface Settlement {
  readonly outcome: "created" | "failed" | "unknown" | "not-created" | "recovered" | "answered" | "forgotten";
  /** The live id, if there is one. */
  readonly id?: string;
  /** Who settled it, if it was not the run itself: for example "resolve". */
  readonly by?: string;
}

export type JournalLine =
  | { readonly type: "intend"; readonly entryId: string; readonly target: string; readonly intent: Intent }
  | { readonly type: "settle"; readonly entryId: string; readonly settlement: Settlement };

/** The line as it is written: flat, and only with known members, whatever else the caller's objects contain. */
export function toLogEntry(line: JournalLine, at: string): LogEntry {
  const { type, entryId } = line;
  if (line.type === "settle") {
    const { outcome, id, by } = line.settlement;
    return { type, entryId, outcome, id, by, at };
  }
  const { runId, address, kind, method, path, naturalKey, bodyDigest, record } = line.intent;
  return {
    type,
    entryId,
    target: line.target,
    runId,
    address,
    kind,
    method,
    path,
    naturalKey,
    bodyDigest,
    record: record === undefined ? undefined : { sent: record.sent, secretVersion: record.secretVersion },
    at: line.intent.at,
  };
}

/** The meaning of a line; undefined if a member is missing or has another type, or the type is unknown. */
export function parseJournalLine(value: LogEntry): JournalLine | undefined {
  const entryId = own(value, "entryId");
  if (typeof entryId !== "string") return undefined;
  switch (own(value, "type")) {
    case "intend":
      return parseIntend(value, entryId);
    case "settle":
      return parseSettle(value, entryId);
    default:
      return undefined;
  }
}

function parseIntend(value: LogEntry, entryId: string): JournalLine | undefined {
  const [target, runId, address, kind, method] = texts(value, "target", "runId", "address", "kind", "method");
  const [path, bodyDigest, at] = texts(value, "path", "bodyDigest", "at");
  const naturalKey = own(value, "naturalKey");
  if (target === undefined || runId === undefined || address === undefined || kind === undefined || method === undefined) return undefined;
  if (path === undefined || bodyDigest === undefined || at === undefined) return undefined;
  if (naturalKey !== undefined && !isTextRecord(naturalKey)) return undefined;
  const record = parseRecord(own(value, "record"));
  if (record === null) return undefined;
  const required = { runId, address, kind, method, path, bodyDigest, at };
  const intent = { ...required, ...(naturalKey === undefined ? {} : { naturalKey }), ...(record === undefined ? {} : { record }) };
  return { type: "intend", entryId, target, intent };
}

/** null if it is present and cannot be understood. */
function parseRecord(value: unknown): Intent["record"] | null {
  if (value === undefined) return undefined;
  if (!isObject(value)) return null;
  const [sent, secretVersion] = [own(value, "sent"), own(value, "secretVersion")];
  if (sent !== undefined && !isTextRecord(sent)) return null;
  if (secretVersion !== undefined && typeof secretVersion !== "number") return null;
  return { ...(sent === undefined ? {} : { sent }), ...(secretVersion === undefined ? {} : { secretVersion }) };
}

function parseSettle(value: LogEntry, entryId: string): JournalLine | undefined {
  const outcome = outcomes.find((known) => known === own(value, "outcome"));
  if (outcome === undefined) return undefined;
  const [id, by] = texts(value, "id", "by");
  return { type: "settle", entryId, settlement: { outcome, ...(id === undefined ? {} : { id }), ...(by === undefined ? {} : { by }) } };
}

const outcomes: readonly Settlement["outcome"][] = ["created", "failed", "unknown", "not-created", "recovered", "answered", "forgotten"];

function texts(value: LogEntry, ...keys: readonly string[]): readonly (string | undefined)[] {
  return keys.map((key) => {
    const member = own(value, key);
    return typeof member === "string" ? member : undefined;
  });
}

const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((member) => typeof member === "string");
