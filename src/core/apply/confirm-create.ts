import { kindOf } from "../base/model/address.ts";
import { readIfPossible } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import type { AuditEntry } from "../base/model/live.ts";
import type { ReadyStep } from "../base/model/plan.ts";
import { exponentialMs } from "../base/model/runtime/clock.ts";
import { creationEvidence, describeEvidence, findCreated } from "../plan/index.ts";
import type { Started } from "./step.ts";

/** A POST that was sent, or may have been. */
export interface SentCreate<Live = unknown> {
  readonly step: Started<Live>;
  /** The id of its journal entry. */
  readonly entryId: string;
  /** When the intent was written, ISO 8601. */
  readonly at: string;
}

/** `id` is absent for a relation. `evidence` is a sentence after a space, or "". `named`: the only id in the response. */
export type Confirmation =
  | { readonly state: "found"; readonly id?: string }
  | { readonly state: "unclear"; readonly evidence: string; readonly alike: number; readonly named?: string };

/** Looks once, after the service has refused: somebody else may have done the same a moment before, or the refusal may be wrong. */
export async function lookOnce<Live>({ step }: SentCreate<Live>): Promise<Confirmation> {
  const { item, run, records } = step;
  const found = await readIfPossible(() =>
    findCreated(intentOf(item), run.writer.reads, { bindings: records.state().bindings, named: [] }),
  );
  if (found?.isCreated !== true) return { state: "unclear", evidence: "", alike: 0 };
  return found.id === undefined ? { state: "found" } : foundAs(found.id, step);
}

/**
 * Reads until the object is there (`findCreated`; `named` are the ids in the response). Reads for at most `client.settleSeconds`; less if the
 * run is interrupted or the audit log shows that the object exists, although no read returns its id. Never sends.
 */
export async function confirmCreate<Live>(sent: SentCreate<Live>, named: readonly string[], why: string): Promise<Confirmation> {
  const { item, run, records } = sent.step;
  const { clock, signal, onProgress, project, writer } = run;
  const end = clock.now().getTime() + project.settings.client.settleMs;
  for (let attempt = 1; ; attempt += 1) {
    const found = await readIfPossible(() => findCreated(intentOf(item), writer.reads, { bindings: records.state().bindings, named }));
    if (found?.isCreated === true) return found.id === undefined ? { state: "found" } : foundAs(found.id, sent.step);
    const alike = found?.alike ?? [];
    const evidence = alike.length === 0 && named.length === 0 ? await evidenceOf(sent) : "";
    if (evidence !== "") return { state: "unclear", evidence, alike: 0 };
    const pauseMs = exponentialMs(attempt, 250, 4_000);
    if (clock.now().getTime() + pauseMs > end || signal.aborted)
      return {
        state: "unclear",
        evidence: severalMatches(alike),
        alike: alike.length,
        ...(alike.length + named.length === 1 ? defined({ named: named[0] }) : {}),
      };
    onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `${item.address}: ${why.slice(0, 80)}` });
    await clock.sleep(pauseMs, signal);
  }
}

const severalMatches = (matches: readonly string[]): string =>
  matches.length > 1 ? ` ${matches.length} new objects match: ${matches.join(", ")}.` : "";

async function foundAs<Live>(id: string, { kind: { list }, run, remember }: Started<Live>): Promise<Confirmation> {
  const live = list === undefined ? undefined : await readIfPossible(() => run.writer.reads.one(list, id));
  if (list !== undefined) remember(list, live ?? list.inCreation?.(id) ?? { id, name: undefined });
  return { state: "found", id };
}

const intentOf = (item: ReadyStep) => ({ ...item, kind: kindOf(item.address) });

/** "" if there is no evidence. */
async function evidenceOf<Live>({ step: { item, run, secrets }, at }: SentCreate<Live>): Promise<string> {
  const { reads, records } = run.writer;
  const entries = await creationEvidence({ ...intentOf(item), runId: records.runId, at }, reads);
  return entries.length > 0 && quotesSecret(entries, secrets) ? " The audit log shows that it was created." : describeEvidence(entries);
}

/** Whether an event repeats a secret of this run. Then it is not shown. */
export function quotesSecret(entries: readonly AuditEntry[], secrets: Started["secrets"]): boolean {
  const values = [...secrets.values()].map((secret) => secret.reveal()).filter((value) => value !== "");
  return entries.some(({ event }) => values.some((value) => event.includes(value)));
}
