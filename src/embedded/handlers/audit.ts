import { createHash } from "node:crypto";
import type { AccountState, AuditRecord } from "../data/account.ts";
import { type Author, type CallResult, filled, invalid, type ServedCall, success } from "../http/call.ts";
import type { Behaviour } from "../options.ts";

/** Adds an entry to the account's audit log. `event` names the object's id and name and what was done. */
export function record(account: AccountState, by: Author, at: Date, event: string): void {
  account.auditLogs.push({
    id: uuidOf(`audit entry ${nextSequence(account)}`),
    timestamp: at.toISOString(),
    event,
    actor: { type: "user", email: by.email },
    context: { ipAddress: by.ipAddress, userAgent: by.userAgent },
  });
}

/** The next number for ids: the same history gives the same ids, which golden files rely on. */
function nextSequence(account: AccountState): number {
  account.sequence += 1;
  return account.sequence;
}

/** The id of a new object, made from `text`. Short: the prefix and the next number, or without a prefix eight digits of the text's hash. */
export function newId({ account, options }: ServedCall, prefix: string, text = `${prefix} ${nextSequence(account)}`): string {
  const hash = createHash("sha256").update(text).digest("hex");
  if (options.ids === "long") return hash.slice(0, 24);
  return prefix === "" ? hash.slice(0, 8) : `${prefix}-${account.sequence}`;
}

/** A UUID (version 8: made from a hash) that depends on the text alone. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** GET /v1/audit-logs (docs/service-interface.md#audit-log). */
export function listAuditLogs({ account, query, options }: ServedCall): CallResult {
  const limit = integer(query, "limit", 20, 1, 100);
  const offset = integer(query, "offset", 0, 0, Number.MAX_SAFE_INTEGER);
  if ((query.get("sortBy") ?? "timestamp") !== "timestamp") throw invalid("sortBy can only be timestamp.");
  const order = query.get("sortOrder") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalid("sortOrder must be asc or desc.");
  const from = instant(query, "startAt") ?? Number.NEGATIVE_INFINITY;
  const to = instant(query, "endAt") ?? Number.POSITIVE_INFINITY;
  const sorted = account.auditLogs
    .map((entry) => ({ entry, at: Date.parse(entry.timestamp) }))
    .filter(({ at }) => at >= from && at < to)
    .sort((a, b) => a.at - b.at)
    .map(({ entry }) => entry);
  if (order === "desc") sorted.reverse();
  const items = sorted.slice(offset, offset + limit).map((entry) => shown(entry, options));
  return success({ totalItems: sorted.length, items });
}

/** The system has no e-mail address and no context. */
function shown(entry: AuditRecord, options: Behaviour): object {
  const { actor, context, ...rest } = entry;
  if (options.members === "complete" || actor.type === "user") return entry;
  return { ...rest, actor: filled(actor, options), ...(context.ipAddress === "" ? {} : { context }) };
}

function integer(query: URLSearchParams, name: string, fallback: number, least: number, most: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value < least || value > most) throw invalid(`${name} must be an integer from ${least} to ${most}.`);
  return value;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function instant(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = dateTime.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw invalid(`${name} must be a date-time such as 2026-01-31T09:00:00Z.`);
  return at;
}
