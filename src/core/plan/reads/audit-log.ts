import { readOr } from "../../base/model/errors.ts";
import { defined } from "../../base/model/json/json.ts";
import type { AuditEntry } from "../../base/model/live.ts";
import { addAll } from "../../base/model/maps.ts";
import type { AuditQuery, Reads, UnreadEntry } from "../../base/model/service.ts";
import { cutEnd } from "../../base/text/values.ts";

/** Entries per request: the most that the service returns (docs/service-interface.md). */
const pageSize = 100;

export interface AuditEntries {
  /** Each entry once, in the order in which the service returned them. */
  readonly items: readonly AuditEntry[];
  /** How many entries match the query, according to the service. */
  readonly totalItems: number;
  /** False if there are more entries than were read: the limit ended it, or a page was empty. */
  readonly complete: boolean;
  readonly unread: readonly UnreadEntry[];
}

/**
 * Reads the audit log page by page until `limit` entries are read. Fix `endAt` and sort descending,
 * so that new entries do not move the offsets. Throws ServiceError.
 */
export async function readAuditLog(
  reads: Pick<Reads, "auditLogs">,
  query: Omit<AuditQuery, "limit" | "offset">,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<AuditEntries> {
  const byId = new Map<string, AuditEntry>();
  const unread: UnreadEntry[] = [];
  let offset = 0;
  let totalItems = 0;
  do {
    signal?.throwIfAborted();
    const page = await reads.auditLogs({ ...query, limit: pageSize, offset });
    totalItems = page.totalItems;
    const known = byId.size + unread.length;
    for (const entry of page.items) if (!byId.has(entry.id)) byId.set(entry.id, entry);
    const ofPage = page.unread ?? [];
    addAll(unread, ofPage);
    // The service may ignore the offset.
    if (byId.size + unread.length === known) break;
    offset += page.items.length + ofPage.length;
  } while (offset < totalItems && byId.size + unread.length < limit);
  return { items: [...byId.values()], totalItems, complete: offset >= totalItems && byId.size <= limit, unread };
}

/** A create that was sent and whose response was lost. */
interface LostCreate {
  readonly runId: string;
  /** The name of the object. */
  readonly name: string;
  /** ISO 8601: when it was sent, by this machine's clock. */
  readonly at: string;
}

/** This machine's clock may be ahead of the service's. */
const clockSkewMs = 60 * 60 * 1000;
const evidenceLimit = 500;

const unreadable = (): Pick<AuditEntries, "items"> => ({ items: [] });

/**
 * Entries that show that a run created an object: they have the run's user agent and quote the
 * object's name. They are evidence only: they contain ids as free text, so nothing is bound from
 * them. Empty if the log can't be read. Newest first.
 */
export async function auditEvidence(reads: Reads, { runId, name, at }: LostCreate): Promise<readonly AuditEntry[]> {
  const sentMs = Date.parse(at);
  if (Number.isNaN(sentMs) || name === "") return [];
  const startAt = new Date(sentMs - clockSkewMs).toISOString();
  const { items } = await readOr(() => readAuditLog(reads, { startAt }, { limit: evidenceLimit }), unreadable);
  return items.filter(({ event, context }) => isRun(context.userAgent, runId) && quotes(event, name));
}

const newestLimit = 1_000;

/** The newest entries, newest first. `unread`: a sentence that says why some or all of them could not be read. */
export interface NewestEntries {
  readonly items: readonly AuditEntry[];
  readonly unread?: string;
}

export const newestEntries = (reads: Reads): Promise<NewestEntries> =>
  readOr(
    async () => {
      const { items, unread, totalItems, complete } = await readAuditLog(reads, { sortOrder: "desc" }, { limit: newestLimit });
      const isCut = !complete && items.length < newestLimit;
      const cut = `GET /v1/audit-logs announces ${totalItems} entries and returned ${items.length + unread.length}.`;
      return { items, ...defined({ unread: unread[0]?.why ?? (isCut ? cut : undefined) }) };
    },
    ({ message }) => ({ items: [], unread: message }),
  );

/**
 * Entries that show that an asset of this name was created. The text of events is not specified, so
 * any event counts that quotes the name, says that something was created and does not name another
 * kind of object. `knownIds` belong to other assets.
 */
export function assetCreations(entries: readonly AuditEntry[], name: string, knownIds: ReadonlySet<string>): readonly AuditEntry[] {
  return entries.filter(({ event }) => {
    const isKnown = event.split(/[\s"'`“”‘’«»(),;:]+/u).some((word) => knownIds.has(word));
    return isAboutAsset(event) && !isKnown && /\bcreat/iu.test(event) && quotes(event, name);
  });
}

/** Whether the text of an event says so, or names no other kind of object. */
const isAboutAsset = (text: string): boolean =>
  /\bassets?\b/iu.test(text) || !/\b(?:integration|tag|user|schema|column|table|relation|key)s?\b/iu.test(text);

/** `Asset d-12 "Lake" created (2026-02-02T09:30:00Z, dana@example.com)` */
export function describeEntry({ event, timestamp, actor }: AuditEntry): string {
  const text = cutEnd(event, 200);
  return `${text} (${[timestamp, actor.email ?? ""].filter((part) => part !== "").join(", ")})`;
}

/** One sentence about the newest entry, after a space; "" without entries. */
export function describeEvidence(entries: readonly AuditEntry[]): string {
  const [first] = entries;
  if (first === undefined) return "";
  return ` It was created: the audit log has an entry of this run: ${describeEntry(first)}. Take the id from there.`;
}

const isRun = (userAgent: string | undefined, runId: string): boolean => userAgent?.includes(`run/${runId}`) === true;

/** With quotation marks, so that a name that is a common word does not match any sentence. */
function quotes(event: string, name: string): boolean {
  return ['""', "''", "``", "“”", "‘’", "«»"].some((marks) => event.includes(`${marks[0]}${name}${marks[1]}`));
}
