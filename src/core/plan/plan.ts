import { type Address, byText } from "../base/model/address.ts";
import { changeCount, eachChange } from "../base/model/changes.ts";
import type { GuardFinding } from "../base/model/findings.ts";
import { canonicalJson, defined, sameJson } from "../base/model/json/json.ts";
import type { Blocked, CallCounts, Change, Deferred, DraftItem, Plan, PlanCounts, ReadyStep, Step } from "../base/model/plan.ts";
import { type Diagnostic, type Locate, type Problem, stopsApply, toDiagnostic } from "../base/model/problem.ts";
import { enumerate } from "../base/text/describe.ts";
import { grouped } from "../base/text/lists.ts";
import { withTarget } from "../base/text/shell.ts";
import { sortDiagnostics } from "../base/text/signs.ts";
import type { DiffResult } from "../kinds/index.ts";
import { groupProblems } from "./group-problems.ts";
import { numbered, risksOf } from "./number-items.ts";
import { holdWaiting } from "./protect-only.ts";
import { blockedStep, byHandStep, heldSteps, notKeptStep, unseenStep, waitingStep } from "./unsent.ts";

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
export interface Findings extends Pick<Plan, "findings" | "loosenedSince" | "covered" | "kept" | "exemptions"> {
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
  /** Whether only protecting changes are sent. */
  readonly protectOnly: boolean;
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
  const { differences, complete, unmanaged, exemptions = [], equal, readCalls } = findings;
  const { loosenedSince, covered, kept } = findings;
  const runs = whatRuns(differences, rules);
  const numbering = { kind: head.kind, locate };
  const items = numbered(runs.runnable, numbering);
  const held = rules.protectOnly ? heldSteps(numbered(runs.heldItems, numbering), runs.heldWaiting) : [];
  const { guards, problems } = rules.guards(items);
  const diagnostics = diagnosticsOf({ ...findings, problems: [...findings.problems, ...problems] }, locate);
  const failed = diagnostics.some(stopsApply) || rules.isStopped;
  return {
    formatVersion: "3.0",
    ...head,
    complete,
    executable: !failed && guards.every(({ guard: { allowed } }) => allowed !== undefined),
    calls: { read: readCalls, planned: countCalls(methodsOf(items)), later: countCalls(runs.deferred.flatMap(({ later = [] }) => later)) },
    steps: [
      ...items,
      ...unsentSteps(differences, { ...runs, held }, rules, head).map((step, index) => ({ id: `s${items.length + index + 1}`, ...step })),
    ],
    unmanaged: { ...unmanaged, columns: differences.reduce((sum, { unmanagedColumns }) => sum + unmanagedColumns, 0) },
    ...defined({ loosenedSince, covered, kept }),
    findings: [...diagnostics.map((one) => withTarget(one, head)), ...guards, ...findings.findings],
    ...(exemptions.length === 0 ? {} : { exemptions }),
    counts: {
      ...countActions(items),
      equal,
      ...countRisks(items, head.kind),
    },
    exit: { code: 0, reasons: [] },
  };
}

interface WhatRuns {
  readonly runnable: readonly DraftItem[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  /** With `--protect-only`: what is not sent, and what waits for it. */
  readonly heldItems: readonly DraftItem[];
  readonly heldWaiting: readonly Deferred[];
}

/** Of the differences in scope: the items that may run, and why the others may not. */
function whatRuns(found: readonly DiffResult[], { inScope, whyNotSend, hasFailed }: PlanRules): WhatRuns {
  const drafts = found.flatMap(({ items }) => items).filter(({ address }) => inScope(address));
  const blocked: Blocked[] = found.flatMap((difference) => difference.blocked).filter(({ address }) => inScope(address));
  const runnable: DraftItem[] = [];
  const doubled = new Map(doubledCreates(drafts).map((one) => [one.address, one]));
  for (const draft of drafts) {
    const why =
      doubled.get(draft.address) ??
      afterFailed(draft, hasFailed) ??
      (draft.verb === "update" || draft.verb === "bind" ? undefined : whyNotSend(draft));
    if (why === undefined) runnable.push(draft);
    else blocked.push(why);
  }
  const heldItems = found.flatMap(({ held = [] }) => held).filter(({ address }) => inScope(address));
  const waits = holdWaiting(
    found.flatMap(({ deferred }) => deferred).filter(({ address }) => inScope(address)),
    new Set(heldItems.map(({ address }) => address)),
  );
  const waiting = settleDeferred([...waits.deferred, ...postponed(runnable, waits.deferred, blocked)], runnable, blocked);
  const isWaiting = new Set([...waiting.deferred, ...waiting.blocked].map(({ address }) => address));
  return {
    runnable: runnable.filter(({ requires, address }) => requires === undefined || !isWaiting.has(address)),
    heldItems,
    heldWaiting: waits.held,
    blocked: [...blocked, ...waiting.blocked].sort((a, b) => byText(a.address, b.address)),
    deferred: waiting.deferred.sort((a, b) => byText(a.address, b.address)),
  };
}

/** What is not sent, by standing, then by address. */
function unsentSteps(
  found: readonly DiffResult[],
  { blocked, deferred, held }: Pick<WhatRuns, "blocked" | "deferred"> & { readonly held: readonly Omit<Step, "id">[] },
  { inScope }: PlanRules,
  head: PlanHead,
): readonly (Omit<Step, "id"> & { readonly id?: string })[] {
  const ofScope = <T extends { readonly address: Address; readonly path?: string }>(all: readonly T[]): readonly T[] =>
    all.filter(({ address }) => inScope(address)).sort((a, b) => byText(a.address, b.address) || byText(a.path ?? "", b.path ?? ""));
  const steps = [
    ...ofScope(found.flatMap(({ manual }) => manual)).map(byHandStep),
    ...blocked.map(blockedStep),
    ...deferred.map(waitingStep),
    ...held,
    ...ofScope(found.flatMap(({ notKept = [] }) => notKept)).map((one) => notKeptStep(one, risksOf(head.kind))),
    ...found
      .flatMap(({ unverifiable }) => unverifiable)
      .sort((a, b) => byText(a.address, b.address))
      .map(unseenStep),
  ];
  return steps.map((step) => (step.why === undefined ? step : { ...step, why: withTarget(step.why, head) }));
}

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
const postponed = (items: readonly DraftItem[], deferred: readonly Deferred[], blocked: readonly Blocked[]): readonly Deferred[] => {
  const isUnsent = new Set([...deferred, ...blocked].map(({ address }) => address));
  return items.flatMap(({ address, verb, liveId, requires = [], changes, requests }) => {
    if (!requires.some((one) => isUnsent.has(one))) return [];
    const desired = Object.fromEntries([...eachChange({ changes })].map(({ field, after: value = null }) => [field, value]));
    return [{ verb, address, waitsFor: requires, ...defined({ liveId }), desired, later: requests.map(({ method }) => method) }];
  });
};

/** Items that wait for a blocked item are blocked, and so are items that wait for those. */
function settleDeferred(
  all: readonly Deferred[],
  items: readonly DraftItem[],
  blocked: readonly Blocked[],
): { readonly deferred: Deferred[]; readonly blocked: readonly Blocked[] } {
  const blockedBy = new Map<Address, string>(blocked.map(({ address, code }) => [address, code]));
  const coming = new Set(items.map(({ address }) => address));
  const moved: Blocked[] = [];
  let deferred = [...all];
  for (let settled = false; !settled; ) {
    settled = true;
    for (const waiting of deferred) {
      const reason = waiting.waitsFor.find((address) => blockedBy.has(address) && !coming.has(address));
      if (reason === undefined) continue;
      moved.push({
        address: waiting.address,
        code: "E_DEPENDENCY",
        message: `It needs ${reason}, which is blocked (${blockedBy.get(reason)}).`,
      });
      blockedBy.set(waiting.address, "E_DEPENDENCY");
      settled = false;
    }
    deferred = deferred.filter(({ address }) => !blockedBy.has(address));
  }
  return { deferred, blocked: moved };
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
