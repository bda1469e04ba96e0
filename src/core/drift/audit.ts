import type { AuditEntry } from "../base/model/live.ts";
import type { Reads } from "../base/model/service.ts";
import { counted } from "../base/text/counts.ts";
import type { AuditEntries } from "../plan/index.ts";
import { readAuditLog } from "../plan/index.ts";

/** A period, ISO 8601: from `since` (inclusive) to `until` (exclusive). */
export interface AuditWindow {
  readonly since?: string;
  readonly until: string;
}

const defaultLimit = 10_000;

/** The newest entries of the window, newest first, at most `limit`; those of the same time in the order of the service. Throws ServiceError if a read fails. */
export async function readAudit(
  reads: Pick<Reads, "auditLogs">,
  { since, until }: AuditWindow,
  { limit = defaultLimit, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<AuditEntries> {
  const query = { sortOrder: "desc", endAt: until, ...(since === undefined ? {} : { startAt: since }) } as const;
  const { items, ...log } = await readAuditLog(reads, query, { limit, signal });
  return { ...log, items: [...items].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, limit) };
}

/** The sentences about entries that could not be read; none if all could be. */
export function unreadText({ unread: [first, ...others] }: Pick<AuditEntries, "unread">): readonly string[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` ${counted(others.length, "more entry")} cannot be read either.`;
  return [`dimsync cannot read the entry ${first.id ?? first.index} of the audit log, and continues without it. ${first.why}${more}`];
}

/** The end of a window that reaches up to now: 15 minutes later, because the service's clock may be ahead and ends are exclusive. */
export const endOfNow = (nowMs: number): string => new Date(nowMs + 15 * 60_000).toISOString();

/** Milliseconds. 0 for an invalid time, so that the entry counts as the oldest and is not lost. */
export function timeOf({ timestamp }: AuditEntry): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}
