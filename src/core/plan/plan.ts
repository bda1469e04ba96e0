import { type Address, byText } from "../base/model/address.ts";
import { changeCount, eachChange, firstChange } from "../base/model/changes.ts";
import { type Blocked, blockedStep, waitingStep } from "../base/model/draft-steps.ts";
import type { GuardFinding } from "../base/model/findings.ts";
import { canonicalJson, defined, sameJson } from "../base/model/json/json.ts";
import {
  type CallCounts,
  type Change,
  type DraftItem,
  type DraftStep,
  isDraftItem,
  type Plan,
  type PlanCounts,
  type ReadyStep,
  type Step,
  stepsOf,
} from "../base/model/plan.ts";
import { type Diagnostic, type Locate, type Problem, stopsApply, toDiagnostic } from "../base/model/problem.ts";
import { enumerate } from "../base/text/describe.ts";
import { grouped } from "../base/text/lists.ts";
import { withTarget } from "../base/text/shell.ts";
import { sortDiagnostics } from "../base/text/signs.ts";
import type { DiffResult } from "../kinds/index.ts";
import { groupProblems } from "./group-problems.ts";
import { heldInOrder, numbered, plannedSteps } from "./number-items.ts";
import { holdWaiting } from "./overlay.ts";

/** What the plan is about, in the order of the document. */
export type PlanHead = Pick<
  Plan,
  | "kind"
  | "planId"
  | "createdAt"
  | "tool"
  | "target"
  | "severalTargets"
  | "account"
  | "git"
  | "protected"
  | "partial"
  | "options"
  | "manifestDigest"
  | "elsewhere"
>;

/** What was found. */
export interface Findings extends Pick<Plan, "findings" | "loosenedSince" | "covered" | "kept"> {
  readonly differences: readonly DiffResult[];
  readonly problems: readonly Problem[];
  /** Whether every read succeeded. */
  readonly complete: boolean;
  /** The number of units without a difference. */
  readonly equal: number;
  readonly unmanaged: Omit<Plan["unmanaged"], "columns">;
  readonly readCalls: CallCounts;
}

/** What may be sent. */
export interface PlanRules {
  readonly inScope: (address: Address) => boolean;
  /** Why an object or relation may not be created, or a relation removed: an earlier outcome is unknown, or a list may be incomplete. */
  readonly whyNotSend: (item: DraftItem) => Blocked | undefined;
  /** Whether an earlier round of the run could not send the item at this address. Absent: there is none. */
  readonly hasFailed?: (address: Address) => boolean;
  readonly guards: (items: readonly ReadyStep[]) => { readonly guards: readonly GuardFinding[]; readonly problems: readonly Problem[] };
  readonly locate: Locate;
  /** Whether nothing was compared, because the manifests have errors or the run was interrupted. */
  readonly isStopped: boolean;
}

/**
 * Sorts differences, separates items that must not run, and counts. The same differences in any
 * order give the same plan.
 */
export function makePlan(head: PlanHead, findings: Findings, rules: PlanRules): Plan {
  const { locate } = rules;
  const { differences, complete, unmanaged, equal, readCalls } = findings;
  const { loosenedSince, covered, kept } = findings;
  const all = settled(differences, rules);
  const numbering = { kind: head.kind, locate };
  const items = numbered(all.filter(isDraftItem), numbering);
  const planned = plannedSteps(numbering);
  const { guards, problems } = rules.guards(items);
  const diagnostics = diagnosticsOf({ ...findings, problems: [...findings.problems, ...problems] }, locate);
  const failed = diagnostics.some(stopsApply) || rules.isStopped;
  return {
    formatVersion: "3.0",
    ...head,
    complete,
    executable: !failed && guards.every(({ guard: { allowed } }) => allowed !== undefined),
    calls: { read: readCalls, planned: countCalls(methodsOf(items)), later: countCalls(all.flatMap(({ later = [] }) => later)) },
    steps: [...items, ...unsentIn(all).map((step, index) => withWhy({ id: `s${items.length + index + 1}`, ...planned(step) }, head))],
    unmanaged: { ...unmanaged, columns: differences.reduce((sum, { unmanagedColumns }) => sum + unmanagedColumns, 0) },
    ...defined({ loosenedSince, covered, kept }),
    findings: [...diagnostics.map((one) => withTarget(one, head)), ...guards, ...findings.findings],
    counts: {
      ...countActions(items),
      equal,
      ...countRisks(items, head.kind),
    },
    exit: { code: 0, reasons: [] },
  };
}

/** The steps in scope, once it is known which of them may run. */
function settled(found: readonly DiffResult[], { inScope, whyNotSend, hasFailed }: PlanRules): readonly DraftStep[] {
  const all = found.flatMap(({ steps }) => steps).filter(({ standing, address }) => standing === "unseen" || inScope(address));
  const doubled = new Map(doubledCreates(all.filter(isDraftItem)).map((one) => [one.address, one]));
  const whyNot = (item: DraftItem): Blocked | undefined =>
    doubled.get(item.address) ??
    afterFailed(item, hasFailed) ??
    (item.verb === "update" || item.verb === "bind" ? undefined : whyNotSend(item));
  const checked = holdWaiting(
    all.map((step) => {
      const why = isDraftItem(step) ? whyNot(step) : undefined;
      return why === undefined ? step : blockedStep(why);
    }),
  );
  const waiting = settleWaiting([...stepsOf({ steps: checked }, "waits"), ...postponed(checked)], checked);
  const isWaiting = new Set(waiting.map(({ address }) => address));
  const others = checked.filter(
    (step) => step.standing !== "waits" && !(isDraftItem(step) && step.requires !== undefined && isWaiting.has(step.address)),
  );
  return [...others, ...waiting];
}

const unsentStandings = ["byHand", "blocked", "waits", "held", "notKept", "unseen"] as const;

/** What is not sent, by standing, then by address. */
const unsentIn = (steps: readonly DraftStep[]): readonly DraftStep[] =>
  unsentStandings.flatMap((standing) => {
    const all = stepsOf({ steps }, standing);
    const byPlace = (some: readonly DraftStep[]) =>
      [...some].sort(
        (a, b) => byText(a.address, b.address) || (standing === "unseen" ? 0 : byText(firstChange(a).path, firstChange(b).path)),
      );
    if (standing !== "held") return byPlace(all);
    const isItem = ({ waitsFor }: DraftStep): boolean => waitsFor === undefined;
    return [...heldInOrder(all.filter(isItem)).map(heldPart), ...byPlace(all.filter((step) => !isItem(step)))];
  });

/** What a document has of a held item. */
const heldPart = ({ address, verb, standing, liveId, liveName, changes }: DraftStep): DraftStep => ({
  ...{ address, verb, standing },
  ...defined({ liveId, liveName }),
  changes,
  requests: [],
});

const withWhy = (step: Step, head: PlanHead): Step => (step.why === undefined ? step : { ...step, why: withTarget(step.why, head) });

function diagnosticsOf({ problems, differences }: Findings, locate: Locate): readonly Diagnostic[] {
  const all = [...problems, ...differences.flatMap((difference) => difference.problems)];
  const unknown = all.filter(({ code }) => code === "E_UNKNOWN_REFERENCE");
  // The account has shown that nothing has the name.
  const isKnown = ({ code, place }: Problem): boolean =>
    code === "W_REFERENCE_NOT_DECLARED" && unknown.some((other) => sameJson(other.place, place));
  return sortDiagnostics(groupProblems(all.filter((problem) => !isKnown(problem))).map((problem) => toDiagnostic(problem, locate)));
}

function afterFailed({ address, requires = [] }: DraftItem, hasFailed: PlanRules["hasFailed"]): Blocked | undefined {
  const failed = requires.find((one) => hasFailed?.(one) === true);
  return failed === undefined ? undefined : { address, code: "E_DEPENDENCY", message: `It needs ${failed}, which failed in this run.` };
}

/** Updates that must come after what is not sent yet, or is blocked. */
function postponed(steps: readonly DraftStep[]): readonly DraftStep[] {
  const isUnsent = new Set(steps.flatMap(({ standing, address }) => (standing === "waits" || standing === "blocked" ? [address] : [])));
  return steps.filter(isDraftItem).flatMap(({ address, verb, liveId, requires = [], changes, requests }) => {
    if (!requires.some((one) => isUnsent.has(one))) return [];
    const desired = Object.fromEntries([...eachChange({ changes })].map(({ field, after: value = null }) => [field, value]));
    const later = requests.map(({ method }) => method);
    return [waitingStep({ verb, address, waitsFor: requires, ...defined({ liveId }), desired, later })];
  });
}

/** Steps that wait for a blocked one are blocked, and so are those that wait for them. */
function settleWaiting(all: readonly DraftStep[], steps: readonly DraftStep[]): readonly DraftStep[] {
  const blockedBy = new Map<Address, string>(stepsOf({ steps }, "blocked").map(({ address, why }) => [address, why?.code ?? ""]));
  const coming = new Set(steps.filter(isDraftItem).map(({ address }) => address));
  const moved: DraftStep[] = [];
  let waiting = [...all];
  for (let settled = false; !settled; ) {
    settled = true;
    for (const { address, waitsFor = [] } of waiting) {
      const reason = waitsFor.find((one) => blockedBy.has(one) && !coming.has(one));
      if (reason === undefined) continue;
      const message = `It needs ${reason}, which is blocked (${blockedBy.get(reason)}).`;
      moved.push(blockedStep({ address, code: "E_DEPENDENCY", message }));
      blockedBy.set(address, "E_DEPENDENCY");
      settled = false;
    }
    waiting = waiting.filter(({ address }) => !blockedBy.has(address));
  }
  return [...waiting, ...moved];
}

/** Two creates with the same natural key would create the same object twice. */
const doubledCreates = (items: readonly DraftItem[]): readonly Blocked[] =>
  grouped(
    items.filter(({ verb, naturalKey }) => verb === "create" && naturalKey !== undefined),
    ({ kind, naturalKey }) => `${kind} ${canonicalJson(naturalKey)}`,
  ).flatMap((group) => {
    const addresses = group.map(({ address }) => address);
    const message = `${enumerate(addresses, "and")} would create the same ${group[0].kind}. Remove or rename all but one of them.`;
    return group.length === 1 ? [] : addresses.map((address): Blocked => ({ address, code: "E_SHARED_IDENTITY", message }));
  });

const methodsOf = (items: readonly ReadyStep[]): readonly string[] => items.flatMap(({ requests }) => requests.map(({ method }) => method));

function countCalls(methods: readonly string[]): CallCounts {
  const counts: Record<string, number> = {};
  for (const method of methods) counts[method] = (counts[method] ?? 0) + 1;
  return counts;
}

function countActions(items: readonly ReadyStep[]): Pick<PlanCounts, ReadyStep["verb"]> {
  const count = (verb: ReadyStep["verb"]): number => items.filter((item) => item.verb === verb).length;
  const unrelate = count("unrelate");
  return {
    create: count("create"),
    update: count("update"),
    relate: count("relate"),
    ...(unrelate === 0 ? {} : { unrelate }),
    bind: count("bind"),
  };
}

function countRisks(items: readonly ReadyStep[], kind: Plan["kind"]): Partial<PlanCounts> {
  const readable = items.reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0);
  const count = (risk: Change["risk"]): number => items.reduce((sum, item) => sum + changeCount(item, (one) => one.risk === risk), 0);
  return kind === "DriftReport"
    ? { exposed: count("exposed"), stricter: count("stricter") }
    : { protects: count("protects"), exposes: count("exposes"), ...(readable === 0 ? {} : { readable }) };
}
