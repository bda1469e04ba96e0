import { readAuditLog } from "../engine/audit-log.ts";
import { durationMs } from "../manifests/scalars.ts";
import type { AuditEntry } from "../model/live.ts";
import type { Reads } from "../model/service.ts";

/** A stretch of time, ISO 8601: from `since` (inclusive) to `until` (exclusive), as interface §4.5 has it. */
export interface AuditWindow {
  readonly since?: string;
  readonly until: string;
}

export interface AuditLog {
  /** Newest first, each entry once; entries of the same time in the order in which the service gave them. */
  readonly items: readonly AuditEntry[];
  /** What the service says there is in the window. */
  readonly totalItems: number;
  /** False where there is more than was read: the limit ended it, or a page brought nothing. */
  readonly complete: boolean;
}

const defaultLimit = 10_000;

/**
 * Every entry of the window, page by page. `until` is fixed for all pages and the newest come first, so that what is logged meanwhile moves no
 * offset. At most `limit` entries, the newest. Throws ServiceError where a read fails.
 */
export async function readAudit(
  reads: Pick<Reads, "auditLogs">,
  { since, until }: AuditWindow,
  { limit = defaultLimit, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<AuditLog> {
  const query = { sortOrder: "desc", endAt: until, ...(since === undefined ? {} : { startAt: since }) } as const;
  const { items, totalItems, complete } = await readAuditLog(reads, query, { limit, signal });
  return { items: [...items].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, limit), totalItems, complete };
}

/**
 * A moment as people give it, as ISO 8601: a duration before `nowMs` ("24h", "7d"), or a date or date-time, UTC where it names no zone.
 * Undefined where the text is neither.
 */
export function momentOf(text: string, nowMs: number): string | undefined {
  const before = durationMs(text);
  if (before !== undefined) return new Date(nowMs - before).toISOString();
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/iu.test(text)) return undefined;
  const time = Date.parse(/T\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/iu.test(text) ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The end of a window that goes up to now, a quarter of an hour later: the service's clock may be ahead of ours, and its ends are exclusive. */
export const endOfNow = (nowMs: number): string => new Date(nowMs + 15 * 60_000).toISOString();

/** Milliseconds; 0 where the service gave a time that can't be read, so that the entry is the oldest instead of lost. */
export function timeOf({ timestamp }: AuditEntry): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}
