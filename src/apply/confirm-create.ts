import { auditEvidence, describeEvidence } from "../engine/reads/audit-log.ts";
import { isRelation } from "../model/address.ts";
import { readIfPossible } from "../model/errors.ts";
import type { AuditEntry } from "../model/live.ts";
import { exponentialMs } from "../model/runtime/backoff.ts";
import type { Step } from "./step.ts";

/** A POST that was sent, or may have been. */
export interface SentCreate<Live = unknown> {
  readonly step: Step<Live>;
  /** The id of its journal entry. */
  readonly entryId: string;
  /** When the intent was written, ISO 8601. */
  readonly at: string;
}

/** `id` is absent for a relation. `evidence` is a sentence after a space, or "". */
export type Confirmation = { readonly state: "found"; readonly id?: string } | { readonly state: "unclear"; readonly evidence: string };

/**
 * Reads until the object is there: exactly one new match, or one that the response named. Reads for
 * at most `client.settleSeconds`; less if the run is interrupted or the audit log shows that the
 * object exists, although no read returns its id. Never sends.
 */
export async function confirmCreate<Live>(sent: SentCreate<Live>, named: readonly string[], why: string): Promise<Confirmation> {
  const { clock, signal, onProgress, project } = sent.step.session;
  const { address } = sent.step.item;
  const end = clock.now().getTime() + project.settings.client.settleMs;
  for (let attempt = 1; ; attempt += 1) {
    const matches = await matchesOf(sent);
    if (isRelation(address) && matches.length > 0) return { state: "found" };
    const [only, ...others] = matches.length === 1 ? matches : matches.filter((id) => named.includes(id));
    if (only !== undefined && others.length === 0) return foundAs(only, sent.step);
    const evidence = matches.length === 0 && named.length === 0 ? await auditEvidenceOf(sent) : "";
    if (evidence !== "") return { state: "unclear", evidence };
    const pauseMs = exponentialMs(attempt, 250, 4_000);
    if (clock.now().getTime() + pauseMs > end || signal.aborted) return { state: "unclear", evidence: severalMatches(matches) };
    onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `${address}: ${why.slice(0, 80)}` });
    await clock.sleep(pauseMs, signal);
  }
}

async function matchesOf<Live>({ step: { item, kind, session } }: SentCreate<Live>): Promise<readonly string[]> {
  const { naturalKey } = item;
  if (naturalKey === undefined) return [];
  const existing = await readIfPossible(async () => kind.find?.(naturalKey, session.writer.reads));
  return existing === undefined || existing === "gone" ? [] : existing;
}

const severalMatches = (matches: readonly string[]): string =>
  matches.length > 1 ? ` ${matches.length} new objects match: ${matches.join(", ")}.` : "";

async function foundAs<Live>(id: string, { kind: { list }, session, remember }: Step<Live>): Promise<Confirmation> {
  const live = list === undefined ? undefined : await readIfPossible(() => session.writer.reads.one(list, id));
  if (list !== undefined && live !== undefined) remember(list, live);
  return { state: "found", id };
}

/** Only for objects that are in no list: assets. "" if there is no evidence. */
async function auditEvidenceOf<Live>({ step, at }: SentCreate<Live>): Promise<string> {
  const { item, kind, session, secrets } = step;
  const name = item.naturalKey?.["name"];
  if (item.action !== "create" || kind.list !== undefined || name === undefined) return "";
  const { reads, records } = session.writer;
  const entries = await auditEvidence(reads, { runId: records.runId, name, at });
  if (entries.length === 0) return "";
  return quotesSecret(entries, secrets) ? " The audit log shows that it was created." : describeEvidence(entries);
}

/** Whether an event repeats a secret of this run. Then it is not shown. */
export function quotesSecret(entries: readonly AuditEntry[], secrets: Step["secrets"]): boolean {
  const values = [...secrets.values()].map((secret) => String(secret.reveal())).filter((value) => value !== "");
  return entries.some(({ event }) => values.some((value) => event.includes(value)));
}
