import { eachChange } from "../base/model/changes.ts";
import { DimsyncError } from "../base/model/errors.ts";
import { guardFindings, isGuard } from "../base/model/findings.ts";
import { canonicalJson, sameJson } from "../base/model/json/json.ts";
import { type Finding, type Plan, type ReadyStep, readySteps, type Step, stepsOf } from "../base/model/plan.ts";
import { namesMatcher } from "../kinds/index.ts";
import type { Run, Scope } from "../plan/index.ts";
import { everything, plan, scopeOf } from "../plan/index.ts";
import type { Ending } from "./step.ts";
import { describeStale, exposesOther, type StaleNode } from "./verify.ts";

// A saved plan is a file that anyone between plan and apply may have written, with a digest that
// anyone can compute. So it only says which steps people have read. What is sent, in which order, what
// is recorded and which guards refuse comes from a new plan of the manifests and the account.

/** A saved plan as it may be executed. */
export interface ConfirmedPlan {
  readonly plan: Plan;
  /** How items end that are not executed, by id: the account has changed at them since the plan was made. */
  readonly endings: ReadonlyMap<string, Ending>;
}

/** Plans the steps of a saved plan again. Throws E_STALE, exit 5, if one of them would send something else although the account is the same. */
export async function confirmSaved(run: Run, saved: Plan): Promise<ConfirmedPlan> {
  refuseRepeated(saved);
  const derived = await plan(runOf(run, saved));
  const endings = new Map<string, Ending>();
  const ids = new Map<string, string>();
  const steps = new Map(readySteps(saved).map((item) => [stepOf(item), item]));
  const confirmed = readySteps(derived).flatMap((now): readonly ReadyStep[] => {
    const item = steps.get(stepOf(now));
    if (item === undefined) return [];
    steps.delete(stepOf(now));
    ids.set(now.id, item.id);
    const stale = staleEnding(item, now);
    if (stale !== undefined) endings.set(item.id, stale);
    return [{ ...now, id: item.id, dependsOn: (now.dependsOn ?? []).flatMap((id) => ids.get(id) ?? []) }];
  });
  for (const item of steps.values()) {
    const why = stepsOf(derived, "blocked").find(({ address }) => address === item.address)?.why;
    const ending: Ending | undefined = why === undefined ? staleEnding(item, undefined) : { outcome: "blocked", ...why };
    if (ending !== undefined) endings.set(item.id, ending);
  }
  const { planId, createdAt } = saved;
  const unsent = [
    ...derived.steps.filter(({ standing }) => standing !== "ready" && !savedStandings.has(standing)),
    ...saved.steps.flatMap((step) =>
      step.standing === "waits" ? waitingNow(step, derived) : savedStandings.has(step.standing) ? step : [],
    ),
  ];
  const findings = derived.findings.map((finding) => liftedInFile(finding, saved));
  return {
    plan: { ...derived, findings, planId, createdAt, steps: [...steps.values(), ...confirmed, ...unsent] },
    endings,
  };
}

/** The plan of these steps only does not know what else people have read. */
const savedStandings: ReadonlySet<Step["standing"]> = new Set(["blocked", "waits", "held"]);

/** A guard that `plan --allow` lifted refuses again, because anyone may have written the file. */
function liftedInFile(finding: Finding, saved: Plan): Finding {
  if (!isGuard(finding) || finding.guard.allowed !== undefined) return finding;
  const { rule, message } = finding;
  const isLifted = guardFindings(saved).some(
    ({ rule: other, guard: { allowed, until } }) => other === rule && allowed !== undefined && until === undefined,
  );
  if (!isLifted) return finding;
  return {
    ...finding,
    message: `${message} The plan was made with --allow ${rule}, and a file lifts no guard. Pass --allow ${rule}="reason" to apply, too.`,
  };
}

/** Reads what the plan has read, with the same options, and plans its steps only. */
function runOf(run: Run, saved: Plan): Run {
  const { only = [], exclude = [] } = saved.options ?? {};
  const scope = only.length + exclude.length === 0 ? everything : scopeOf(only, exclude, namesMatcher);
  const addresses = new Set([...readySteps(saved), ...stepsOf(saved, "waits")].map(({ address }) => address));
  const ofSteps: Scope = { ...scope, item: (address) => addresses.has(address), problems: () => [] };
  return { ...run, scope: ofSteps, options: { ...run.options, scope } };
}

const stepOf = ({ verb, address }: ReadyStep): string => `${verb} ${address}`;

/** Of two items with the same id or step, one would never be checked. */
function refuseRepeated(plan: Plan): void {
  const [ids, steps] = [new Set<string>(), new Set<string>()];
  for (const item of readySteps(plan)) {
    if (ids.has(item.id) || steps.has(stepOf(item))) throw changed(item);
    ids.add(item.id);
    steps.add(stepOf(item));
  }
}

const sent = ({ liveId, requests, binding, naturalKey, renamedFrom }: ReadyStep): string =>
  canonicalJson(JSON.parse(JSON.stringify({ liveId, requests, binding, naturalKey, renamedFrom })));

const sendsTheSame = (one: ReadyStep, other: ReadyStep): boolean => sent(one) === sent(other);

/** The ending of an item if the account has changed at it. Throws E_STALE if it has not, and the item would send something else. */
function staleEnding(item: ReadyStep, now: ReadyStep | undefined): Ending | undefined {
  const nodes = changedNodes(item, now);
  if (nodes.length === 0 && now !== undefined && sendsTheSame(item, now)) return item.basis === now.basis ? undefined : exposesOther;
  if (nodes.length === 0) throw changed(item);
  return { outcome: "skipped", code: "E_STALE", message: `It changed after the plan was made: ${describeStale(nodes)}.`, command: newPlan };
}

/** Where the account has another value than at planning. */
function changedNodes(item: ReadyStep, now: ReadyStep | undefined): readonly StaleNode[] {
  const live = new Map([...(now === undefined ? [] : eachChange(now))].map(({ path, before }) => [path, before]));
  const planned = new Map([...eachChange(item)].map((change) => [change.path, change]));
  const nodes: StaleNode[] = [];
  for (const [pointer, { before, after }] of planned) {
    const is = live.has(pointer) ? live.get(pointer) : after;
    if (!sameJson(is ?? null, before ?? null)) nodes.push({ pointer, planned: before, now: is });
  }
  for (const [pointer, is] of live) if (!planned.has(pointer)) nodes.push({ pointer, planned: undefined, now: is });
  return nodes;
}

/** What a later round will plan, if it waits no longer: its secrets are resolved before the first write. */
function waitingNow(step: Step, derived: Plan): Step {
  const { address } = step;
  const bodies = readySteps(derived).flatMap((item) => (item.address === address ? item.requests.map(({ body }) => body) : []));
  const now = stepsOf(derived, "waits").find((one) => one.address === address);
  return now ?? { ...step, waitsFor: [], changes: [{ path: "", after: bodies, risk: "neutral" }] };
}

const newPlan = "dimsync plan --out plan.json";

const changed = ({ address }: ReadyStep): DimsyncError =>
  new DimsyncError(
    "E_STALE",
    `The saved plan has other requests for ${address} than the manifests and the account give now. It was edited, or the account has changed. Nothing was sent. Make and review a new plan.`,
    { exit: 5, command: newPlan },
  );
