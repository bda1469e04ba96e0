import { cachedReads } from "../engine/cached-reads.ts";
import { firstRound, planRound, type Round } from "../engine/pipeline.ts";
import { recover } from "../engine/recover.ts";
import { scopeOfAddresses } from "../engine/scope.ts";
import type { PlanOptions, Run, Session } from "../engine/session.ts";
import type { Address } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { ItemResult, Plan, Result } from "../model/plan.ts";
import { type Secret, type SecretReference, secretsIn } from "../model/secret.ts";
import type { Reads, SendableRequest, WriteAnswer, WriteDecoder } from "../model/service.ts";
import type { RecordsRun } from "../records/records.ts";
import { execute } from "./execute.ts";
import { newOutcomes, replansPerAddress } from "./outcomes.ts";
import { resultOf } from "./result.ts";
import { unfinishedItems } from "./unfinished.ts";
import { newSchemaWait } from "./wait-for-schemas.ts";
import { gatherIntents } from "./waves.ts";

/** A session that may write: what `apply` has and `plan` has not. */
export interface WriteSession extends Session {
  readonly runId: string;
  /** The same account as `reads`, and not cut off by the signal: what is under way is followed to its end. */
  readonly lastingReads: Reads;
  readonly send: (request: SendableRequest) => Promise<WriteAnswer>;
  readonly decode: WriteDecoder;
  readonly writes: RecordsRun;
  /** Throws where one is missing: before the first write, never in the middle. `addresses` are those that need them. */
  readonly resolveSecrets: (
    references: readonly SecretReference[],
    addresses: ReadonlySet<Address>,
  ) => Promise<ReadonlyMap<string, Secret>>;
}

export interface ApplyOptions extends PlanOptions {
  /** A saved plan: exactly its items, then what they make possible. Absent: plan now. */
  readonly saved?: Plan;
  /** Asked once, before the first write; false ends the run without one. */
  readonly confirm?: (plan: Plan) => Promise<boolean>;
  /** Called before the first write, whatever made the plan. */
  readonly beforeFirstWrite?: (plan: Plan) => Promise<void>;
  readonly failFast?: boolean;
}

/**
 * Observes, plans and executes in rounds until nothing more can be sent: what one round creates makes possible what the next one plans. A later
 * round reads only what waited. Throws only before the first write; afterwards everything is told by the result.
 */
export async function apply(session: WriteSession, options: ApplyOptions = {}): Promise<{ readonly plan: Plan; readonly result: Result }> {
  const startedAt = session.clock.now().toISOString();
  const round = firstRound(session, options);
  const first = allow(options.saved ?? (await planRound(session, options, round)), options.allow);
  const rounds: [Plan, ...Plan[]] = [first];
  const finish = (items: readonly ItemResult[]) => ({ plan: first, result: resultOf(session, rounds, items, startedAt) });
  // What an interruption left unread looks blocked, and isn't.
  if (session.signal.aborted) return finish(notRun(first, interrupted));
  if (!first.executable) {
    const refused = notRun(first, refusal(first));
    return finish([...refused, ...unfinishedItems(first, first, refused)]);
  }
  const anything = first.items.length + first.deferred.length > 0;
  if (anything && options.confirm !== undefined && !(await options.confirm(first)))
    return finish(notRun(first, { code: "E_DECLINED", message: "The plan was not confirmed." }));

  const secrets = await session.resolveSecrets(
    secretsIn([
      ...first.items.flatMap(({ requests }) => requests.map(({ body }) => body)),
      ...first.deferred.map(({ desired }) => desired),
    ]),
    new Set([...first.items, ...first.deferred].map(({ address }) => address)),
  );
  await closeSettled(session, round.reads);
  if (anything) await options.beforeFirstWrite?.(first);

  const records = gatherIntents(session.writes);
  const tally = newOutcomes();
  const patience = newSchemaWait(session);
  const fresh = new Map<string, LiveIntegration>();
  let current = first;
  let reads = round.reads;
  for (;;) {
    const remember = (integration: LiveIntegration): void => {
      fresh.set(integration.id, integration);
      reads.remember(integration);
    };
    const progressed = tally.add(current.items, await execute(current.items, runOf(session, options, { secrets, records, remember })));
    refuseUnsent(session);
    if (session.signal.aborted || (options.failFast === true && tally.failed())) break;
    const again = options.saved === undefined ? tally.stale() : [];
    if (current.deferred.length + again.length === 0) break;
    if (!progressed && again.length === 0 && !(await patience.waitFor(current.deferred))) break;
    if (again.length > 0) {
      reads = cachedReads(session.reads);
      for (const integration of fresh.values()) reads.remember(integration);
    }
    // An address to plan afresh may have an ending of another step: its id was recorded, and then its update was outdated.
    const settled = new Set([...tally.settled()].filter((address) => !again.includes(address)));
    const scope = scopeOfAddresses(new Set([...current.deferred.map(({ address }) => address), ...again]), settled);
    const before = { reads, scope, fresh: new Set(fresh.keys()), createdBefore: tally.created, exposedBefore: tally.exposed };
    const next = await laterRound(session, options, before, rounds);
    if (next === undefined) break;
    current = next;
    if (!current.executable || session.signal.aborted) {
      tally.add(current.items, notRun(current, session.signal.aborted ? interrupted : refusal(current)));
      break;
    }
  }
  const results = tally.results().map((ending) => (options.saved === undefined ? notSaved(ending) : ending));
  return finish([...results, ...unfinishedItems(first, current, results)]);
}

/** Throws why the records could not be written, if nothing was sent: then there is no result to keep. */
function refuseUnsent({ writes: { lost }, calls }: WriteSession): void {
  const isSent = Object.entries(calls()).some(([method, count]) => method !== "GET" && count > 0);
  if (!isSent) lost.throwIfAborted();
}

/** Plans what has become possible. By now something may have been written, so a mistake in dimsync must not take the result with it. */
async function laterRound(session: WriteSession, options: ApplyOptions, round: Round, rounds: Plan[]): Promise<Plan | undefined> {
  try {
    const next = allow(await planRound(session, options, round), options.allow);
    rounds.push(next);
    return next;
  } catch (error) {
    const last = rounds.at(-1);
    if (last === undefined) throw error;
    const message = `Planning what comes next failed (${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}). What was done until then stands.`;
    const code = error instanceof DimsyncError ? error.code : "E_INTERNAL";
    rounds.push({
      ...last,
      executable: false,
      diagnostics: [...last.diagnostics, { code, severity: "error", summary: "Planning failed", message }],
    });
    return undefined;
  }
}

/** Closes journal entries of earlier runs that are no longer open questions. What can't be written stays open, which harms nothing. */
async function closeSettled(session: WriteSession, reads: Reads): Promise<void> {
  const { open, bindings } = session.records();
  if (open.length === 0) return;
  const { settled } = await recover(open, bindings, reads);
  for (const { entryId, id } of settled)
    await session.writes.settle(entryId, { outcome: "recovered", ...(id === undefined ? {} : { id }) }).catch((error: unknown) => {
      if (!(error instanceof DimsyncError)) throw error;
    });
}

/** Exit code 5 speaks of saved plans. One made just now and outdated three times over is an object that keeps changing. */
const notSaved = (ending: ItemResult): ItemResult =>
  ending.code === "E_STALE"
    ? { ...ending, code: "E_KEEPS_CHANGING", message: `${ending.message ?? ""} It was planned afresh ${replansPerAddress} times.`.trim() }
    : ending;

/** Why nothing of a plan was begun. */
interface WhyNotRun {
  readonly code: string;
  readonly message: string;
}

const interrupted: WhyNotRun = { code: "E_INTERRUPTED", message: "The run was interrupted before it began." };

/** The plan with guards lifted that were not when it was made. */
function allow(plan: Plan, reasons: ReadonlyMap<string, string> | undefined): Plan {
  const guards = plan.guards.map((finding) => {
    const allowed = finding.allowed ?? reasons?.get(finding.guard);
    return allowed === undefined ? finding : { ...finding, allowed };
  });
  const clean = plan.snapshot === undefined && plan.complete && plan.diagnostics.every(({ severity }) => severity !== "error");
  return { ...plan, guards, executable: clean && guards.every(({ allowed }) => allowed !== undefined) };
}

function runOf(
  session: WriteSession,
  options: ApplyOptions,
  { secrets, records, remember }: Pick<Run, "secrets" | "records" | "remember">,
): Run {
  const { client } = session.project.settings;
  return {
    runId: session.runId,
    reads: session.lastingReads,
    send: session.send,
    decode: session.decode,
    records,
    bindingOf: (address) => records.state().bindings.get(address),
    secrets,
    settleMs: client.settleMs,
    retries: client.retries,
    concurrency: client.concurrency,
    waveSize: session.writes.waveSize,
    failFast: options.failFast === true,
    stop: session.signal,
    clock: session.clock,
    remember,
    onProgress: session.onProgress,
  };
}

function refusal(refused: Plan): WhyNotRun {
  if (refused.snapshot !== undefined)
    return { code: "E_PLAN_FROM_SNAPSHOT", message: "The plan was made from a snapshot, so it can't be applied." };
  if (!refused.complete) return { code: "E_INCOMPLETE", message: "The plan is incomplete, so nothing is sent." };
  const guard = refused.guards.find(({ allowed }) => allowed === undefined);
  if (guard !== undefined && refused.diagnostics.every(({ severity }) => severity !== "error"))
    return { code: "E_GUARD", message: `The guard ${guard.guard} refuses: ${guard.message}` };
  return { code: "E_PLAN_HAS_ERRORS", message: "The plan has errors, so nothing is sent." };
}

function notRun(plan: Plan, why: WhyNotRun): readonly ItemResult[] {
  return plan.items.map(({ id, address, kind, action, liveId, changes }) => ({
    id,
    address,
    kind,
    action,
    outcome: why.code === "E_INTERRUPTED" ? "skipped" : "blocked",
    ...(liveId === undefined ? {} : { liveId }),
    changes,
    ...why,
  }));
}
