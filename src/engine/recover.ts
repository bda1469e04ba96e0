import { kindNamed } from "../kinds/index.ts";
import type { Address } from "../model/address.ts";
import type { Bindings } from "../model/binding.ts";
import { ServiceError } from "../model/errors.ts";
import type { AuditEntry } from "../model/live.ts";
import type { Blocked, DraftItem, Item } from "../model/plan.ts";
import type { Reads } from "../model/service.ts";
import type { CreatedEntry, OpenIntent } from "../records/journal.ts";

/** What reading tells of POSTs that an earlier run began and did not see the end of. */
export interface Recovered {
  /** Ids of objects that were created after all. */
  readonly ids: ReadonlyMap<Address, string>;
  /** Addresses of which reading can't tell, with the reason. */
  readonly unknown: ReadonlyMap<Address, string>;
  /** Entries of which nothing is open any more: the object is bound, or the relation is there. A run that writes closes them. */
  readonly settled: readonly { readonly entryId: string; readonly id?: string }[];
}

/** Settles open journal entries by reading, never by sending (product §3.4). */
export async function recover(open: readonly OpenIntent[], bindings: Bindings, reads: Reads): Promise<Recovered> {
  const ids = new Map<Address, string>();
  const unknown = new Map<Address, string>();
  const settled: { entryId: string; id?: string }[] = [];
  for (const intent of open) {
    const { address, entryId, idsSeenBefore, answeredId } = intent;
    const bound = bindings.get(address)?.id;
    if (bound !== undefined && !idsSeenBefore.includes(bound)) {
      settled.push({ entryId, id: bound });
      continue;
    }
    try {
      const shown = await read(intent, reads);
      const takenElsewhere = new Set([...bindings].flatMap(([other, { id }]) => (other === address ? [] : [id])));
      const fresh = shown.matches.filter((id) => !idsSeenBefore.includes(id) && !takenElsewhere.has(id));
      const [only] = fresh;
      if (shown.related) settled.push({ entryId });
      else if (shown.confirmed !== undefined) ids.set(address, shown.confirmed);
      else if (only !== undefined && fresh.length === 1) ids.set(address, only);
      else if (fresh.length > 1) unknown.set(address, `${fresh.length} new objects match it: ${fresh.join(", ")}.`);
      else
        unknown.set(
          address,
          `Reading does not show it.${answeredId === undefined ? await auditText(intent, reads) : ` The answer named the id ${answeredId}.`}`,
        );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      unknown.set(address, `Reading failed: ${error.message}`);
    }
  }
  return { ids, unknown, settled };
}

/** Why a create or a relation may not be planned because of what earlier runs did: their outcome is unknown, or they made it and its id was lost since. */
export function heldBack(
  item: Pick<DraftItem, "address" | "kind" | "action">,
  unknown: ReadonlyMap<Address, string>,
  created: ReadonlyMap<Address, CreatedEntry>,
): Blocked | undefined {
  const { address } = item;
  const why = unknown.get(address);
  if (why !== undefined) return unknownOutcome(address, why);
  // What can be looked up was looked up; an asset can't be (interface §4.4), so the journal is the last to know.
  const earlier = item.action === "create" && kindNamed(item.kind)?.listedIn === undefined ? created.get(address) : undefined;
  if (earlier === undefined) return undefined;
  return {
    address,
    code: "E_UNBOUND",
    message: `An earlier run created it as ${earlier.id}, and that id is no longer in the bindings file. It is not created a second time. Bind the id again, or run dimsync unbind ${address} if another one is wanted.`,
    command: `dimsync bind ${address}=${earlier.id}`,
  };
}

export function unknownOutcome(address: Address, why: string): Blocked {
  return {
    address,
    code: "E_UNKNOWN_OUTCOME",
    message: `An earlier run sent a create for it and did not learn what became of it. ${why} It is not sent again until a person says what happened.`,
    command: `dimsync resolve ${address} --created=ID`,
  };
}

interface Shown {
  readonly related: boolean;
  /** The id that the answer named, where it is there. */
  readonly confirmed: string | undefined;
  readonly matches: readonly string[];
}

async function read(intent: OpenIntent, reads: Reads): Promise<Shown> {
  const { address, path, naturalKey, answeredId } = intent;
  const kind = kindNamed(intent.kind);
  const [, , , tagId] = path.split("/");
  const relation = path.endsWith("/relation");
  if (answeredId !== undefined && !relation) {
    // An asset can't be read; the answer is all there will ever be.
    const there = kind?.listedIn !== "integrations" || (await reads.integration(answeredId)) !== undefined;
    if (there) return { related: false, confirmed: answeredId, matches: [] };
  }
  // Enough of an item for the kind to find the object by its natural key.
  const item: Item = {
    id: "",
    address,
    kind: intent.kind,
    action: relation ? "relate" : "create",
    ...(relation && tagId !== undefined ? { liveId: decoded(tagId) } : {}),
    requests: [],
    observed: {},
    ...(naturalKey === undefined ? {} : { naturalKey }),
    changes: [],
    dependsOn: [],
  };
  const document = kind?.document(item, await kind.reread(item, reads)) ?? {};
  const matches = Array.isArray(document["matches"]) ? document["matches"].filter((id) => typeof id === "string") : [];
  return { related: relation && document["related"] === true, confirmed: undefined, matches };
}

async function auditText({ runId, naturalKey, at, kind }: OpenIntent, reads: Reads): Promise<string> {
  const name = naturalKey?.["name"];
  return kind !== "Asset" || name === undefined || Number.isNaN(Date.parse(at))
    ? ""
    : describeEvidence(await auditEvidence(reads, { runId, name, at }));
}

/** The journal is a file that people can change. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

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
