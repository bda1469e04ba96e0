import { createHash } from "node:crypto";
import type { DiffResult } from "../kinds/kind.ts";
import { type Address, byText, parseAddress } from "../model/address.ts";
import type { GuardFinding, PolicyFinding } from "../model/findings.ts";
import { canonicalJson } from "../model/json/json.ts";
import { countChanges, withChangesOf } from "../model/packed-item.ts";
import type {
  Blocked,
  CallCounts,
  Change,
  ColumnDifference,
  Deferred,
  DraftItem,
  Held,
  Item,
  Manual,
  Plan,
  Summary,
} from "../model/plan.ts";
import { type Diagnostic, type Locate, type Problem, toDiagnostic } from "../model/problem.ts";
import { severities } from "../text/severity.ts";
import { groupProblems } from "./group-problems.ts";
import { numbered } from "./number-items.ts";
import { holdWaiting } from "./protect-only.ts";

/** The input of a plan. Everything that is not a value (clock, random ids, files) is passed in. */
export interface PlanInput {
  readonly kind: Plan["kind"];
  readonly planId: string;
  readonly createdAt: string;
  readonly version: string;
  readonly target: string;
  readonly account: string;
  readonly git?: Plan["git"];
  readonly isProtected?: boolean;
  readonly snapshot?: string | undefined;
  readonly manifestDigest: () => string;
  readonly found: readonly DiffResult[];
  readonly problems: readonly Problem[];
  readonly complete: boolean;
  readonly equal: number;
  readonly unmanaged: Omit<Plan["unmanaged"], "columns">;
  /** New and gone columns by unit; absent if columns are not reviewed. */
  readonly review?: readonly ColumnDifference[];
  readonly seenColumns?: Plan["seenColumns"];
  readonly readCalls: CallCounts;
  readonly inScope: (address: Address) => boolean;
  /** Whether only protecting changes are sent. */
  readonly protectOnly?: boolean;
  /** Why an address may not be created now, if so: an earlier outcome is unknown, or a list may be incomplete. */
  readonly whyNotCreate: (item: DraftItem) => Blocked | undefined;
  readonly guards: (items: readonly Item[]) => readonly GuardFinding[];
  readonly policy: readonly PolicyFinding[];
  readonly locate: Locate;
}

/**
 * Sorts differences, separates items that must not run, and counts. The same differences in any
 * order give the same plan.
 */
export function makePlan(input: PlanInput): Plan {
  const { found, manifestDigest, complete } = input;
  const sent = whatRuns(input);
  const items = numbered(sent.runnable, input);
  const { blocked, deferred } = sent;
  const held = input.protectOnly === true ? heldOf(numbered(sent.heldItems, input), sent.heldWaiting) : undefined;
  const manual = manualSteps(input);
  const diagnostics = diagnosticsOf(input, [...sent.runnable, ...sent.heldItems]);
  const guards = input.guards(items);
  const failed = diagnostics.some(({ severity }) => severity === "error");
  return {
    ...headerOf(input),
    get manifestDigest() {
      return manifestDigest();
    },
    complete,
    executable: input.snapshot === undefined && complete && !failed && guards.every(({ allowed }) => allowed !== undefined),
    calls: { read: input.readCalls, planned: countCalls(items) },
    ...{ items, manual, blocked, deferred },
    ...(held === undefined ? {} : { held }),
    unmanaged: { ...input.unmanaged, columns: found.reduce((sum, { unmanagedColumns }) => sum + unmanagedColumns, 0) },
    unverifiable: found.flatMap(({ unverifiable }) => unverifiable).sort((a, b) => byText(a.address, b.address)),
    ...columnsOf(input),
    ...(input.seenColumns === undefined ? {} : { seenColumns: input.seenColumns }),
    policy: input.policy,
    ...{ guards, diagnostics },
    summary: {
      ...countActions(items),
      noop: input.equal,
      manual: manual.length,
      blocked: blocked.length,
      deferred: deferred.length,
      ...(held === undefined ? {} : { held: held.length }),
      ...countRisks(items, input.kind),
    },
    exit: { code: 0, reasons: [] },
  };
}

/** What the plan is about, with its members in the order of the JSON document. */
const headerOf = ({ kind, planId, createdAt, version, target, account, git, isProtected, snapshot }: PlanInput) => ({
  ...{ formatVersion: "1.0" as const, kind, planId, createdAt },
  tool: { name: "dimsync" as const, version },
  ...{ target, account },
  ...(git === undefined ? {} : { git }),
  ...(isProtected === true ? { protected: true as const } : {}),
  ...(snapshot === undefined ? {} : { snapshot }),
});

/** New and gone columns, in the order of the units. */
const columnsOf = ({ review }: PlanInput): Pick<Plan, "newColumns" | "goneColumns"> =>
  review === undefined
    ? {}
    : { newColumns: review.flatMap(({ newColumns }) => newColumns), goneColumns: review.flatMap(({ goneColumns }) => goneColumns) };

interface WhatRuns {
  readonly runnable: readonly DraftItem[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  /** With `--protect-only`: what is not sent, and what waits for it. */
  readonly heldItems: readonly DraftItem[];
  readonly heldWaiting: readonly Deferred[];
}

/** Of the differences in scope: the items that may run, and why the others may not. */
function whatRuns({ found, inScope, whyNotCreate }: PlanInput): WhatRuns {
  const drafts = found.flatMap(({ items }) => items).filter(({ address }) => inScope(address));
  const blocked: Blocked[] = found.flatMap((difference) => difference.blocked).filter(({ address }) => inScope(address));
  const runnable: DraftItem[] = [];
  for (const draft of drafts) {
    const why = draft.action === "create" || draft.action === "relate" ? whyNotCreate(draft) : undefined;
    if (why === undefined) runnable.push(draft);
    else blocked.push(why);
  }
  const heldItems = found.flatMap(({ held = [] }) => held).filter(({ address }) => inScope(address));
  const waits = holdWaiting(
    found.flatMap(({ deferred }) => deferred).filter(({ address }) => inScope(address)),
    new Set(heldItems.map(({ address }) => address)),
  );
  const waiting = settleDeferred(waits.deferred, runnable, blocked);
  return {
    ...{ runnable, heldItems, heldWaiting: waits.held },
    blocked: [...blocked, ...waiting.blocked].sort((a, b) => byText(a.address, b.address)),
    deferred: waiting.deferred.sort((a, b) => byText(a.address, b.address)),
  };
}

const manualSteps = ({ found, inScope }: PlanInput): readonly Manual[] =>
  found
    .flatMap(({ manual }) => manual)
    .filter(({ address }) => inScope(address))
    .map((step): Manual => ({ id: manualId(step), ...step }))
    .sort((a, b) => byText(a.address, b.address) || byText(a.path, b.path));

function diagnosticsOf({ problems, found, locate }: PlanInput, runnable: readonly DraftItem[]): readonly Diagnostic[] {
  const all = [...problems, ...found.flatMap((difference) => difference.problems), ...doubledCreates(runnable)];
  return sortDiagnostics(groupProblems(all).map((problem) => toDiagnostic(problem, locate)));
}

/** Held items, then what waits for them. */
const heldOf = (items: readonly Item[], waiting: readonly Deferred[]): readonly Held[] => [
  ...items.map((item) => {
    const { address, kind, action, liveId, liveName } = item;
    const held = {
      ...{ address, kind, action },
      ...(liveId === undefined ? {} : { liveId }),
      ...(liveName === undefined ? {} : { liveName }),
    };
    return withChangesOf(item, held);
  }),
  ...[...waiting]
    .sort((a, b) => byText(a.address, b.address))
    .map(({ address, waitsFor }) => ({ address, kind: parseAddress(address)?.kind ?? "", changes: [], waitsFor })),
];

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
function doubledCreates(items: readonly DraftItem[]): readonly Problem[] {
  const first = new Map<string, Address>();
  return items.flatMap(({ action, kind, address, naturalKey }): readonly Problem[] => {
    if (action !== "create" || naturalKey === undefined) return [];
    const key = `${kind} ${canonicalJson(naturalKey)}`;
    const other = first.get(key);
    first.set(key, other ?? address);
    if (other === undefined) return [];
    return [
      {
        code: "E_SHARED_IDENTITY",
        severity: "error",
        summary: "Two manifests create the same object",
        message: `${other} and ${address} would create the same ${kind}. Remove or rename one of them.`,
        address,
      },
    ];
  });
}

function countCalls(items: readonly Item[]): CallCounts {
  const counts: Record<string, number> = {};
  for (const { method } of items.flatMap(({ requests }) => requests)) counts[method] = (counts[method] ?? 0) + 1;
  return counts;
}

function countActions(items: readonly Item[]): Pick<Summary, Item["action"]> {
  const count = (action: Item["action"]): number => items.filter((item) => item.action === action).length;
  return { create: count("create"), update: count("update"), relate: count("relate"), bind: count("bind") };
}

function countRisks(items: readonly Item[], kind: Plan["kind"]): Partial<Summary> {
  const count = (risk: Change["risk"]): number => items.reduce((sum, item) => sum + countChanges(item, (one) => one.risk === risk), 0);
  return kind === "DriftReport"
    ? { exposed: count("exposed"), stricter: count("stricter") }
    : { protects: count("protects"), exposes: count("exposes") };
}

const manualId = ({ address, path }: { readonly address: string; readonly path: string }): string =>
  `m-${createHash("sha256").update(`${address}\n${path}`).digest("hex").slice(0, 8)}`;

export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      byText(a.file ?? "", b.file ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      byText(a.code, b.code) ||
      byText(a.message, b.message),
  );
}
