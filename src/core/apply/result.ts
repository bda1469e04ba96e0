import { byText } from "../base/model/address.ts";
import { eachChange, firstChange } from "../base/model/changes.ts";
import { notKeptStep } from "../base/model/draft-steps.ts";
import { DimsyncError } from "../base/model/errors.ts";
import { combineExits, type Exit } from "../base/model/exit.ts";
import { defined, sameJson } from "../base/model/json/json.ts";
import { type KeptIntegration, type KeptJson, keptById, keptJson, type Sent, withoutPlanned } from "../base/model/kept.ts";
import { getOrAdd } from "../base/model/maps.ts";
import { eachNode, nodePointer } from "../base/model/nodes.ts";
import { type NotKept, type Plan, type Result, readySteps, type Step, stepsOf } from "../base/model/plan.ts";
import { isDiagnostic } from "../base/model/problem.ts";
import { andMore } from "../base/text/lists.ts";
import { wholePath } from "../base/text/paths.ts";
import { withTarget } from "../base/text/shell.ts";
import { applyExit, type WriteRun } from "../plan/index.ts";
import type { RecordsState } from "../records/index.ts";
import { dependencyFailed } from "./execute.ts";
import { type EndedStep, type Ending, ended, isGood } from "./step.ts";

/** The result of an apply. `plans` are those of all its rounds, in order. */
export function resultOf(
  run: WriteRun,
  plans: readonly [Plan, ...Plan[]],
  { items, startedAt }: { readonly items: readonly EndedStep[]; readonly startedAt: string },
): Result {
  const [first] = plans;
  const last = plans.at(-1) ?? first;
  // Entries that waited were checked in a later round, so only the last plan's notes about waiting
  // are valid.
  const findings = plans.flatMap((plan) => plan.findings.filter(({ rule }) => plan === last || rule !== "I_POLICY_WAITS"));
  const bindings = [...run.records().bindings].sort(([a], [b]) => byText(a, b)).map(([address, { id }]) => [address, id] as const);
  const notKept = items.flatMap((item) => (isGood(item.outcome) ? [] : (item.notKept ?? []).filter(isSecond(run.records()))));
  const ends = items.flatMap(separated);
  const result: Result = {
    formatVersion: "3.0",
    kind: "Result",
    runId: run.writer.records.runId,
    planId: first.planId,
    startedAt,
    finishedAt: run.clock.now().toISOString(),
    tool: { name: "dimsync", version: run.version },
    target: first.target,
    ...(first.severalTargets === undefined ? {} : { severalTargets: first.severalTargets }),
    account: first.account,
    steps: [
      ...ends.map((one) => resultStep(one, first)),
      ...unsentSteps([
        ...withoutReached(
          plans.flatMap(({ steps }) => steps.filter(({ standing }) => standing !== "unseen")),
          ends,
        ),
        ...notKept.map((one) => ({ id: "", ...notKeptStep(one) })),
        ...stepsOf(last, "unseen"),
      ]),
    ],
    findings: lastByKey(findings, (one) => JSON.stringify(isDiagnostic(one) ? one : [one.rule, one.address, one.path, one.message])),
    calls: { sent: run.calls() },
    bindings: Object.fromEntries(bindings),
    exit: { code: 0, reasons: [] },
  };
  return { ...result, exit: exitOf(result, first.executable ? last : first, run.signal) };
}

/** Without the values that the service did not keep in earlier runs, and that it has kept in this one. */
function withoutReached(steps: readonly Step[], ends: readonly EndedStep[]): readonly Step[] {
  const missed = new Set(steps.flatMap(({ standing, address }) => (standing === "notKept" ? [address] : [])));
  const reached = new Map<string, Set<string>>();
  for (const item of ends)
    if (missed.has(item.address) && isGood(item.outcome))
      for (const { path } of eachChange(item)) getOrAdd(reached, item.address, () => new Set()).add(path);
  return steps.filter((step) => step.standing !== "notKept" || reached.get(step.address)?.has(firstChange(step).path) !== true);
}

/** Whether an earlier apply has sent the value in vain, too. Once may have been a slow read or a lost request. */
const isSecond =
  ({ notKept }: Pick<RecordsState, "notKept">) =>
  ({ address, path, wanted, live }: NotKept): boolean => {
    const earlier = notKept.get(address)?.get(path);
    return earlier !== undefined && sameJson([earlier.wanted, earlier.live], [wanted, live]);
  };

/** What the account has of an item that did not converge, and what it does not have, are results of their own. */
function separated({ kept, ...item }: EndedStep): readonly EndedStep[] {
  if (kept === undefined) return [item];
  const { code: __, message: ___, command: ____, ...done } = item;
  const names = andMore(
    [...eachChange({ changes: kept })].map(({ path }) => wholePath(path)),
    "value",
    { shown: 10 },
  );
  return [{ ...done, outcome: "done", message: `The account has ${names} now.`, changes: kept }, item];
}

/** What ended blocked or waiting has that as its standing. */
function resultStep(
  { outcome, code, message, command, notKept: _, ...step }: EndedStep,
  target: Pick<Plan, "target" | "severalTargets">,
): Step {
  const why = message === undefined ? {} : { why: withTarget({ message, ...defined({ code, command }) }, target) };
  if (outcome === "blocked") return { ...step, standing: "blocked", ...why };
  return outcome === "waits" ? { ...step, standing: "waits", ...why } : { ...step, ...why, outcome };
}

const unsentStandings: readonly Step["standing"][] = ["byHand", "held", "notKept", "unseen"];

/** What the run did not send. A later round has planned some addresses again. */
const unsentSteps = (all: readonly Step[]): readonly Step[] =>
  unsentStandings.flatMap((standing) =>
    lastByKey(
      all.filter((step) => step.standing === standing),
      (step) => `${step.verb} ${step.address} ${standing === "held" ? "" : firstChange(step).path}`,
    ),
  );

/** One value per key: the last value, at the position of the first. */
const lastByKey = <T>(values: readonly T[], key: (value: T) => string): readonly T[] => [
  ...new Map(values.map((value) => [key(value), value])).values(),
];

/** A run that lost its lease is stopped by the same signal as one that the user interrupts, but was not interrupted. */
function exitOf(result: Result, plan: Plan, signal: AbortSignal): Exit {
  const lostLease = signal.aborted && signal.reason instanceof DimsyncError ? signal.reason : undefined;
  const exit = applyExit(result, plan, signal.aborted && lostLease === undefined);
  return lostLease === undefined ? exit : combineExits([exit, { code: lostLease.exit, reasons: ["lock-lost"] }]);
}

/** Addresses without an item: those that a plan blocked, unless a later one has an item for them, and those that still wait at the end. */
export function unfinishedItems(plans: readonly Pick<Plan, "steps">[], results: readonly EndedStep[]): readonly EndedStep[] {
  const last = plans.at(-1);
  const blocked = new Map(
    plans.flatMap((plan, index) => {
      const later = new Set(plans.slice(index + 1).flatMap((one) => readySteps(one).map(({ address }) => address)));
      return stepsOf(plan, "blocked").flatMap((step) => (later.has(step.address) ? [] : [[step.address, step] as const]));
    }),
  );
  const waiting = (last === undefined ? [] : stepsOf(last, "waits")).filter(({ address }) => !blocked.has(address));
  return [...[...blocked.values()].map((step) => ended(step, { outcome: "blocked", ...step.why })), ...waitingResults(waiting, results)];
}

/** A step that waits is skipped if something that it waits for failed, directly or through another one. */
function waitingResults(steps: readonly Step[], results: readonly EndedStep[]): readonly EndedStep[] {
  const ends = new Map(results.map((result) => [result.address, result]));
  const waiting = new Map(steps.flatMap((entry) => (ends.has(entry.address) ? [] : [[entry.address, entry] as const])));
  const entries = [...waiting.values()];
  const failedBefore = ({ address, waitsFor = [] }: Step): EndedStep | undefined => {
    // Each is visited once: a saved plan is a file, and could contain a cycle.
    waiting.delete(address);
    for (const dependency of waitsFor) {
      const awaited = waiting.get(dependency);
      if (awaited !== undefined) ends.set(dependency, endOf(awaited));
      const result = ends.get(dependency);
      if (result !== undefined && !isGood(result.outcome)) return result;
    }
    return undefined;
  };
  const endOf = (entry: Step): EndedStep => {
    const failed = failedBefore(entry);
    const isSkipped = failed !== undefined && failed.outcome !== "waits";
    return ended(entry, isSkipped ? dependencyFailed(failed) : stillWaits(entry));
  };
  return entries.map((entry) => {
    const result = ends.get(entry.address) ?? endOf(entry);
    ends.set(entry.address, result);
    return result;
  });
}

function stillWaits({ waitsFor = [], liveId, why }: Step): Ending {
  const names = waitsFor.join(", ");
  const answer = why === undefined ? "" : ` Its last answer: ${why.message}`;
  return {
    outcome: "waits",
    code: "E_STILL_WAITING",
    message:
      liveId === undefined
        ? `It still waits for ${names}. Run apply again later.`
        : `${names} is in the account, but the service has not discovered the declared schemas, tables and columns yet.${answer} Run apply again when it has. client.schemaWaitSeconds limits how long apply waits for that.`,
  };
}

interface KeptRun {
  /** What the plans of the rounds found kept, or send. */
  readonly found: readonly KeptJson[];
  readonly items: readonly Pick<Step, "outcome" | "liveId" | "changes">[];
}

/** What is kept after a run: what its plans found, what it has protected, and what is known of other integrations. */
export function keptAfter(known: KeptJson, { found, items }: KeptRun): KeptJson {
  const byId = new Map(keptById(known));
  const sent = new Map<string, Map<string, Sent>>();
  for (const { outcome, liveId, changes } of items)
    if (outcome !== undefined && isGood(outcome) && liveId !== undefined) sent.set(liveId, protectedIn(changes, sent.get(liveId)));
  const done = (id: string, one: KeptIntegration): KeptIntegration => {
    const ofId = sent.get(id);
    const schemas = withoutPlanned(one.schemas, (path, as) => ofId?.get(nodePointer(path, as)));
    return schemas === one.schemas ? one : { ...one, schemas };
  };
  for (const kept of found) for (const [id, one] of keptById(kept)) byId.set(id, done(id, one));
  return keptJson(new Map([...byId].filter(([, { schemas }]) => schemas.size > 0)));
}

/** The nodes of the changes that protect. */
function protectedIn(changes: Step["changes"], known = new Map<string, Sent>()): Map<string, Sent> {
  for (const entry of changes) {
    if ("path" in entry || entry.risk !== "protects") continue;
    const as = entry.field === "hashed" ? "hashed" : "disabled";
    for (const path of eachNode(entry.nodes)) known.set(nodePointer(path, as), entry.before === undefined ? "unseen" : "shown");
  }
  return known;
}
