import { ServiceError } from "../model/errors.ts";
import type { AuditEntry } from "../model/live.ts";
import type { Reads } from "../model/service.ts";

const pageSize = 100;
const mostPages = 5;
/** The clock of this machine may be ahead of the service's. */
const skewMs = 60 * 60 * 1000;

/**
 * Entries of the audit log that speak of what a run created: written by the run (its user agent) and quoting the object's name. They tell that it exists;
 * its id stands in them only as text for people (interface §2.7), so nothing is bound by it. Empty where the log can't be read. Newest first.
 */
export async function auditEvidence(
  reads: Reads,
  { runId, name, at }: { readonly runId: string; readonly name: string; readonly at: string },
): Promise<readonly AuditEntry[]> {
  const startAt = new Date(Date.parse(at) - skewMs).toISOString();
  const found: AuditEntry[] = [];
  try {
    for (let page = 0; page < mostPages; page++) {
      const { totalItems, items } = await reads.auditLogs({ limit: pageSize, offset: page * pageSize, startAt });
      found.push(...items.filter(({ event, context }) => isRun(context.userAgent, runId) && quotes(event, name)));
      if ((page + 1) * pageSize >= totalItems || items.length === 0) break;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
  return found;
}

/** What the entries tell, in a sentence that ends the search for a person; "" where there are none. */
export function describeEvidence(entries: readonly AuditEntry[]): string {
  const [first] = entries;
  if (first === undefined) return "";
  const event = first.event.length > 200 ? `${first.event.slice(0, 199)}…` : first.event;
  return ` It was created: the audit log has an entry of this very run, of ${first.timestamp}: ${JSON.stringify(event)}. Take the id from there.`;
}

const isRun = (userAgent: string | undefined, runId: string): boolean => userAgent?.includes(`run/${runId}`) === true;

/** In quotation marks of any sort, so that a name that is a common word is not found in any sentence. */
function quotes(event: string, name: string): boolean {
  return ['""', "''", "``", "“”", "‘’", "«»"].some((marks) => event.includes(`${marks[0]}${name}${marks[1]}`));
}
