import { auditEvidence, describeEvidence } from "../engine/recover.ts";
import type { Run } from "../engine/session.ts";
import type { Kind, Unit } from "../kinds/kind.ts";
import { ServiceError } from "../model/errors.ts";
import type { AuditEntry } from "../model/live.ts";
import type { Item } from "../model/plan.ts";

/** A POST of which it has to be found out whether it acted. */
export interface ConfirmInput<Live> {
  readonly item: Item;
  readonly kind: Kind<Unit, Live>;
  readonly run: Run;
  /** When the intent was written, ISO 8601. */
  readonly at: string;
  /** Ids of objects with the same natural key that were there before. */
  readonly seenBefore: readonly string[];
}

/** `id` is absent for a relation. `evidence` begins with a blank, for the end of a message; it may be "". */
export type Confirmation = { readonly state: "found"; readonly id?: string } | { readonly state: "unclear"; readonly evidence: string };

/**
 * Reads until exactly one new match is there, or one that the answer named, for at most `settleMs` (product §3.4). Never sends. Ends early where time
 * can't tell more: the run was interrupted, or the audit log says that the object exists, whose id no read shows.
 */
export async function confirmCreate<Live>(settling: ConfirmInput<Live>, named: readonly string[], why: string): Promise<Confirmation> {
  const { item, kind, run, seenBefore } = settling;
  const end = run.clock.now().getTime() + run.settleMs;
  let fresh: readonly string[] = [];
  for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 4_000)) {
    const document = kind.document(item, await readOrNothing(() => kind.reread(item, run.reads)));
    if (item.action === "relate" && document["related"] === true) return { state: "found" };
    const matches = Array.isArray(document["matches"]) ? document["matches"].filter((id) => typeof id === "string") : [];
    fresh = matches.filter((id) => !seenBefore.includes(id));
    const chosen = fresh.length === 1 ? fresh : fresh.filter((id) => named.includes(id));
    const [only] = chosen;
    if (only !== undefined && chosen.length === 1) {
      if (kind.listedIn === "integrations") {
        const live = await readOrNothing(() => run.reads.integration(only));
        if (live !== undefined) run.remember(live);
      }
      return { state: "found", id: only };
    }
    const audit = fresh.length === 0 && named.length === 0 ? await audited(settling) : [];
    if (audit.length > 0)
      return { state: "unclear", evidence: withheld(audit, run) ? " The audit log shows that it was created." : describeEvidence(audit) };
    if (run.clock.now().getTime() + pauseMs > end || run.stop.aborted) break;
    run.onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `${item.address}: ${why.slice(0, 80)}` });
    await run.clock.sleep(pauseMs, run.stop);
  }
  return { state: "unclear", evidence: fresh.length > 1 ? ` ${fresh.length} new objects match: ${fresh.join(", ")}.` : "" };
}

async function readOrNothing<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return undefined;
  }
}

/** Only what no list shows is looked for in the audit log: assets. */
async function audited<Live>({ item, kind, run, at }: ConfirmInput<Live>): Promise<readonly AuditEntry[]> {
  const name = item.naturalKey?.["name"];
  if (item.action !== "create" || kind.listedIn !== undefined || name === undefined) return [];
  return auditEvidence(run.reads, { runId: run.runId, name, at });
}

/** An event that repeats a secret of this run is not shown. */
function withheld(entries: readonly AuditEntry[], { secrets }: Run): boolean {
  const values = [...secrets.values()].map((secret) => String(secret.reveal()));
  return entries.some(({ event }) => values.some((value) => value !== "" && event.includes(value)));
}
