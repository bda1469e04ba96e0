import type { Address } from "../model/address.ts";
import type { Binding } from "../model/binding.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { Deferred, GuardFinding, Item, ItemResult, Plan, Result } from "../model/plan.ts";
import { type Secret, type SecretReference, secretsIn } from "../model/secret.ts";
import type { SendableRequest, WriteAnswer, WriteDecoder } from "../model/service.ts";
import { execute } from "./execute.ts";
import { applyExit } from "./exits.ts";
import { firstRound, planRound } from "./pipeline.ts";
import { onceOnly } from "./reads.ts";
import type { JournalWriter, Run } from "./run.ts";
import { scopeOfAddresses } from "./scope.ts";
import type { PlanOptions, Session } from "./session.ts";

/** A session that may write: what `apply` has and `plan` has not. */
export interface WriteSession extends Session {
  readonly runId: string;
  readonly send: (request: SendableRequest) => Promise<WriteAnswer>;
  readonly decode: WriteDecoder;
  readonly journal: JournalWriter;
  readonly bind: (address: Address, binding: Binding) => Promise<void>;
  /** Throws where one is missing: before the first write, never in the middle. */
  readonly resolveSecrets: (references: readonly SecretReference[]) => Promise<ReadonlyMap<string, Secret>>;
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
  const finish = (items: readonly ItemResult[], last: Plan) => ({ plan: first, result: resultOf(session, first, last, items, startedAt) });
  if (!first.executable) return finish(notRun(first, refusal(first)), first);
  const anything = first.items.length + first.deferred.length > 0;
  if (anything && options.confirm !== undefined && !(await options.confirm(first)))
    return finish(notRun(first, { code: "E_DECLINED", message: "The plan was not confirmed." }), first);

  const secrets = await session.resolveSecrets(
    secretsIn([
      ...first.items.flatMap(({ requests }) => requests.map(({ body }) => body)),
      ...first.deferred.map(({ desired }) => desired),
    ]),
  );
  if (anything) await options.beforeFirstWrite?.(first);

  const tally = newTally();
  const patience = newPatience(session);
  const fresh = new Map<string, LiveIntegration>();
  let current = first;
  let reads = round.reads;
  for (;;) {
    const remember = (integration: LiveIntegration): void => {
      fresh.set(integration.id, integration);
      reads.remember(integration);
    };
    const progressed = tally.add(current.items, await execute(current.items, runOf(session, options, secrets, remember)));
    const again = options.saved === undefined ? tally.stale() : [];
    if (session.signal.aborted || current.deferred.length + again.length === 0) break;
    if (!progressed && again.length === 0 && !(await patience.waitFor(current.deferred))) break;
    if (again.length > 0) {
      reads = onceOnly(session.reads);
      for (const integration of fresh.values()) reads.remember(integration);
    }
    const scope = scopeOfAddresses(new Set([...current.deferred.map(({ address }) => address), ...again]), tally.settled());
    current = allow(
      await planRound(session, options, {
        reads,
        scope,
        fresh: new Set(fresh.keys()),
        createdBefore: tally.created,
        exposedBefore: tally.exposed,
      }),
      options.allow,
    );
    if (!current.executable) {
      tally.add(current.items, notRun(current, refusal(current)));
      break;
    }
  }
  return finish([...tally.results(), ...leftOver(first, current, tally.results())], current);
}

/** How often one address is planned afresh because it changed between plan and write. */
const replansPerAddress = 3;

/** The endings so far, by what was done where. */
function newTally() {
  const byStep = new Map<string, ItemResult>();
  const replans = new Map<Address, number>();
  const isStale = ({ code, address }: ItemResult): boolean => code === "E_STALE" && (replans.get(address) ?? 0) < replansPerAddress;
  const tally = {
    created: 0,
    exposed: 0,
    /** Whether something that others may have waited for is there now. */
    add(items: readonly Item[], endings: readonly ItemResult[]): boolean {
      for (const ending of endings) byStep.set(`${ending.action} ${ending.address}`, ending);
      const reached = new Set(
        endings.filter(({ outcome }) => outcome !== "skipped" && outcome !== "failed" && outcome !== "blocked").map(({ id }) => id),
      );
      tally.created += items.filter(({ id, action }) => action === "create" && reached.has(id)).length;
      tally.exposed += items.reduce((sum, { id, exposedColumns }) => sum + (reached.has(id) ? (exposedColumns ?? 0) : 0), 0);
      return endings.some(({ outcome, action }) => (outcome === "done" || outcome === "recovered") && action !== "update");
    },
    /** Addresses to plan afresh; they are forgotten here, and counted. */
    stale(): readonly Address[] {
      const found = [...byStep].filter(([, ending]) => isStale(ending));
      for (const [step, { address }] of found) {
        byStep.delete(step);
        replans.set(address, (replans.get(address) ?? 0) + 1);
      }
      return found.map(([, { address }]) => address);
    },
    settled: (): ReadonlySet<Address> => new Set([...byStep.values()].map(({ address }) => address)),
    results: (): readonly ItemResult[] => [...byStep.values()],
  };
  return tally;
}

/** Waits for schemas that the service has not discovered yet, in all at most `schemaWaitSeconds`. */
function newPatience(session: WriteSession) {
  let deadline: number | undefined;
  let pauseMs = 250;
  return {
    /** False where nothing that waits can be helped by time, or the time is over. */
    async waitFor(deferred: readonly Deferred[]): Promise<boolean> {
      const discovering = deferred.filter(({ liveId }) => liveId !== undefined);
      const now = session.clock.now().getTime();
      deadline ??= now + session.project.settings.client.schemaWaitMs;
      if (discovering.length === 0 || now >= deadline) return false;
      session.onProgress?.({
        type: "step",
        phase: "wait",
        done: 0,
        total: discovering.length,
        label: "waiting for the schema of a new integration",
      });
      await session.clock.sleep(Math.min(deadline - now, pauseMs), session.signal);
      pauseMs = Math.min(pauseMs * 2, 10_000);
      return !session.signal.aborted;
    },
  };
}

/** The plan with guards lifted that were not when it was made. */
function allow(plan: Plan, reasons: ReadonlyMap<string, string> | undefined): Plan {
  const guards = plan.guards.map((finding) => {
    const allowed = finding.allowed ?? reasons?.get(finding.guard);
    return allowed === undefined ? finding : { ...finding, allowed };
  });
  const clean = plan.complete && plan.diagnostics.every(({ severity }) => severity !== "error");
  return { ...plan, guards, executable: clean && guards.every(({ allowed }) => allowed !== undefined) };
}

function runOf(session: WriteSession, options: ApplyOptions, secrets: ReadonlyMap<string, Secret>, remember: Run["remember"]): Run {
  const { client } = session.project.settings;
  return {
    runId: session.runId,
    reads: session.reads,
    send: session.send,
    decode: session.decode,
    journal: session.journal,
    bind: session.bind,
    bindingOf: (address) => session.bindings().get(address),
    secrets,
    settleMs: client.settleMs,
    retries: client.retries,
    concurrency: client.concurrency,
    failFast: options.failFast === true,
    stop: session.signal,
    clock: session.clock,
    remember,
    onProgress: session.onProgress,
  };
}

function refusal(refused: Plan): { readonly code: string; readonly message: string } {
  if (!refused.complete) return { code: "E_INCOMPLETE", message: "The plan is incomplete, so nothing is sent." };
  const guard = refused.guards.find(({ allowed }) => allowed === undefined);
  if (guard !== undefined && refused.diagnostics.every(({ severity }) => severity !== "error"))
    return { code: "E_GUARD", message: `The guard ${guard.guard} refuses: ${guard.message}` };
  return { code: "E_PLAN_HAS_ERRORS", message: "The plan has errors, so nothing is sent." };
}

function notRun(plan: Plan, why: { readonly code: string; readonly message: string }): readonly ItemResult[] {
  return plan.items.map(({ id, address, kind, action, liveId, changes }) => ({
    id,
    address,
    kind,
    action,
    outcome: "blocked",
    ...(liveId === undefined ? {} : { liveId }),
    changes,
    ...why,
  }));
}

/** What never became an item: blocked in the first plan or in the last, and what still waits at the end. */
function leftOver(first: Plan, last: Plan, results: readonly ItemResult[]): readonly ItemResult[] {
  const ended = new Map(results.map((result) => [result.address, result]));
  const blocked = new Map([...first.blocked, ...last.blocked].map((item) => [item.address, item]));
  const kindOf = (address: Address): string => address.slice(0, address.indexOf("/"));
  const waiting = last.deferred.filter(({ address }) => !ended.has(address) && !blocked.has(address));
  return [
    ...[...blocked.values()].map(
      ({ address, code, message }): ItemResult => ({ address, kind: kindOf(address), outcome: "blocked", code, message }),
    ),
    ...waiting.map(({ address, waitsFor }): ItemResult => {
      const failed = waitsFor
        .flatMap((dependency) => ended.get(dependency) ?? [])
        .find(({ outcome }) => outcome !== "done" && outcome !== "recovered");
      if (failed !== undefined)
        return {
          address,
          kind: kindOf(address),
          outcome: "skipped",
          code: "E_DEPENDENCY",
          message: `It depends on ${failed.address}, which is ${failed.outcome}.`,
        };
      return {
        address,
        kind: kindOf(address),
        outcome: "deferred",
        code: "E_STILL_WAITING",
        message: `It still waits for ${waitsFor.join(", ")}. Apply again later.`,
      };
    }),
  ];
}

function resultOf(session: WriteSession, first: Plan, last: Plan, items: readonly ItemResult[], startedAt: string): Result {
  const guards = new Map<string, GuardFinding>(
    [...first.guards, ...last.guards].map((finding) => [`${finding.guard} ${finding.message}`, finding]),
  );
  const diagnostics =
    last === first
      ? first.diagnostics
      : [...new Map([...first.diagnostics, ...last.diagnostics].map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
  const bindings = Object.fromEntries(
    [...session.bindings()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, { id }]) => [address, id]),
  );
  const result: Result = {
    formatVersion: "1.0",
    kind: "Result",
    runId: session.runId,
    planId: first.planId,
    startedAt,
    finishedAt: session.clock.now().toISOString(),
    tool: { name: "dimsync", version: session.version },
    target: first.target,
    account: first.account,
    items,
    manual: first.manual,
    guards: [...guards.values()],
    policy: first.policy,
    diagnostics,
    calls: session.calls(),
    bindings,
    exit: { code: 0, reasons: [] },
  };
  return { ...result, exit: applyExit(result, first.executable ? last : first, session.signal.aborted) };
}
