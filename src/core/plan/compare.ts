import { isDeepStrictEqual } from "node:util";
import pLimit from "p-limit";
import type { Address } from "../base/model/address.ts";
import { blockedStep } from "../base/model/draft-steps.ts";
import { isFailedCreation, ServiceError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { type DraftItem, type DraftStep, isDraftItem, stepsOf } from "../base/model/plan.ts";
import { isError, type Problem } from "../base/model/problem.ts";
import { turn } from "../base/model/runtime/clock.ts";
import type { Account, DiffResult, Pair, ReadNeeds, Unit } from "../kinds/index.ts";
import { emptyDiff, integrations, kinds, lists } from "../kinds/index.ts";
import { type Check, type CheckInput, type Comparison, showOthers, showPair } from "./checks/check.ts";
import { objectOf, schemasAtBase, withOrigin } from "./origin.ts";
import { holdOthers, withoutIgnored } from "./overlay.ts";
import { columnBudget } from "./reads/cached-reads.ts";
import { creationFailed, failedRead } from "./reads/lists-and-ids.ts";
import type { Run } from "./run.ts";
import type { Scope } from "./scope.ts";

interface CompareInput extends CheckInput {
  readonly checks: readonly Check[];
}

/**
 * Reads and compares pair by pair, and shows each to the checks. A live object is in memory only while it is compared, so memory
 * grows with the largest object and the number of differences, not with the account.
 */
export async function compare({ run, account: observed, reviewed, checks }: CompareInput): Promise<Comparison> {
  const account: Account = { ...observed, base: reviewed && schemasAtBase(reviewed) };
  const needs = needsOf(run, account, checks);
  const pairs = await comparePairs({ run, account, reviewed, checks, needs });
  const others = await showOthers(pairs.seen, { run, checks, needs });
  const { found, isComplete, seen: _, ...rest } = pairs;
  const differences = [...found.map((one) => blockOutsideScope(one, run.options.scope)), ...others];
  return { ...rest, differences, complete: isComplete && !others.some(hasFailedRead), needs };
}

function needsOf({ rounds, clock }: Run, account: Account, checks: readonly Check[]): ReadNeeds {
  const { byId } = account.list(integrations);
  return {
    policyColumns(id) {
      const tests = checks.flatMap(({ columns }) => columns?.(id) ?? []);
      return tests.length === 0 ? undefined : (...table) => tests.some((test) => test(...table));
    },
    claimColumns: columnBudget(),
    isNew: (id) => rounds.fresh.has(id) || isRecent(byId.get(id)?.createdAt, clock.now()),
  };
}

/** An integration of an earlier run, or of somebody else, may still be in creation for this long. */
const newForMs = 60 * 60 * 1000;

const isRecent = (createdAt: string | undefined, now: Date): boolean =>
  createdAt !== undefined && Math.abs(now.getTime() - Date.parse(createdAt)) < newForMs;

interface PairsInput extends CompareInput {
  readonly needs: ReadNeeds;
}

interface ComparedPairs extends Pick<Comparison, "parts" | "objects" | "equal" | "liveIds"> {
  readonly found: readonly DiffResult[];
  /** The integrations whose schemas were read, by id. */
  readonly seen: ReadonlySet<string>;
  /** Whether every read succeeded. */
  readonly isComplete: boolean;
}

/**
 * The limit is necessary although the client has one: the client's queue takes the first read of every
 * pair before the second read of any, so all schemas would be in memory at once.
 */
async function comparePairs(input: PairsInput): Promise<ComparedPairs> {
  const { onProgress, project } = input.run;
  const { asked, before, parts, objects } = pairsOf(input);
  const total = asked.length;
  const limit = pLimit(project.settings.client.concurrency);
  const shared = newSharing();
  let done = 0;
  const compareNext = async (one: Pair): Promise<DiffResult> => {
    try {
      const found = await comparePair(one, input);
      return { ...found, steps: found.steps.map((step) => (isDraftItem(step) ? shared(step) : step)) };
    } finally {
      done++;
      onProgress?.({ type: "step", phase: "read", done, total, label: one.unit.address });
    }
  };
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const liveIds = asked.flatMap(({ unit }) => unit.liveId ?? []);
  const seen = new Set(asked.flatMap(({ kind, unit }) => (kind.schemas !== undefined ? (unit.liveId ?? []) : [])));
  // From here on only the queue holds the pairs, so that each can be collected once it is compared.
  const after = await Promise.all(asked.splice(0).map((one) => limit(() => compareNext(one))));
  return {
    found: [...before, ...after, { ...emptyDiff, problems: conclusions(after) }],
    parts,
    objects,
    equal: after.filter(isEqual).length,
    liveIds,
    seen,
    isComplete: !after.some(hasFailedRead),
  };
}

/** The integrations of a fleet often differ in the same way. The next item has the changes and bodies of the last one if they are equal. */
function newSharing(): (item: DraftItem) => DraftItem {
  let last: DraftItem | undefined;
  return (item) => {
    const before = last ?? item;
    last = {
      ...item,
      changes: sharedValue(item.changes, before.changes),
      requests: item.requests.map((request, index) => ({ ...request, body: sharedValue(request.body, before.requests[index]?.body) })),
    };
    return last;
  };
}

const sharedValue = <T>(value: T, last: T | undefined): T => (last !== undefined && isDeepStrictEqual(value, last) ? last : value);

async function comparePair({ kind, unit }: Pair, { run, account, reviewed, checks, needs }: PairsInput): Promise<DiffResult> {
  try {
    await turn();
    throwIfInterrupted(run.signal);
    const live = unit.liveId === undefined ? undefined : await kind.observe?.(unit, run.reads, needs);
    const difference = withLiveName(withoutIgnored(kind.diff(unit, live, account), account), unit, account);
    const found = run.options.protectOnly === true ? holdOthers(difference) : difference;
    showPair({ kind, unit, live, difference: found }, checks);
    const isTraced = !isEqual(found) && (reviewed !== undefined || account.isDrift);
    return isTraced ? withOrigin(found, { kind, unit, live }, reviewed) : found;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isFailedCreation(error)) {
      const { address, liveId = "" } = unit;
      return { ...emptyDiff, steps: [blockedStep({ address, code: "E_CREATION_FAILED", message: creationFailed(liveId, error) })] };
    }
    const problem = failedRead(error, unit.address);
    const message = problem.read === undefined ? error.message : unreadMessage;
    const steps = [blockedStep({ address: unit.address, code: problem.code, message })];
    return { ...emptyDiff, problems: [problem], steps };
  }
}

/** The same for all units: the problem names the request and the reason. */
const unreadMessage = "Not compared, because a read that it needs failed.";

function throwIfInterrupted({ aborted }: AbortSignal): void {
  if (aborted) throw new ServiceError("E_INTERRUPTED", "The run was interrupted.", { method: "GET", path: "", sent: "never" });
}

/** The pairs in scope, in the order of kinds and addresses, and the manifests that have none. */
function pairsOf({ run: { scope }, account }: Pick<PairsInput, "run" | "account">): {
  readonly asked: Pair[];
  readonly before: readonly DiffResult[];
  readonly parts: readonly Address[];
  readonly objects: ReadonlySet<string>;
} {
  const objects = new Set<string>();
  const asked: Pair[] = [];
  const parts: Address[] = [];
  const before: DiffResult[] = [];
  for (const kind of kinds) {
    const ofKind = account.comparable.filter((manifest) => manifest.kind === kind.name);
    if (ofKind.length === 0) continue;
    const isReadable = (manifest: Manifest): boolean => !kind.lists(manifest, account).some((list) => account.unreadLists.has(list));
    const { units, steps, problems } = kind.units(ofKind.filter(isReadable), account);
    const unread = ofKind
      .filter((manifest) => !isReadable(manifest))
      .map(({ address }) => blockedStep({ address, code: "E_READ_FAILED", message: unreadMessage }));
    before.push({ ...emptyDiff, problems, steps: [...steps, ...unread] });
    for (const { address } of [...units, ...steps, ...unread]) parts.push(address);
    for (const unit of units) objects.add(objectOf({ kind, unit }));
    for (const unit of units) if (scope.unit(unit.address, account)) asked.push({ kind, unit });
  }
  return { asked, before, parts, objects };
}

/** The problems of all integrations together. Only one kind has schemas. */
function conclusions(compared: readonly DiffResult[]): readonly Problem[] {
  const tallies = compared.flatMap(({ tally }) => tally ?? []);
  return tallies.length === 0 ? [] : kinds.flatMap(({ schemas }) => schemas?.conclude(tallies) ?? []);
}

/** Blocks what waits for something that --only or --exclude leaves out: it would wait forever. */
function blockOutsideScope(found: DiffResult, scope: Scope | undefined): DiffResult {
  const blockedIfOutside = (step: DraftStep): DraftStep => {
    const { standing, address, waitsFor = [], liveId } = step;
    const outside = standing === "waits" && liveId === undefined ? waitsFor.find((other) => scope?.item(other) === false) : undefined;
    if (outside === undefined) return step;
    const message = `It needs ${outside}, which does not exist yet and is left out of this run by --only or --exclude.`;
    return blockedStep({ address, code: "E_DEPENDENCY", message });
  };
  return { ...found, steps: found.steps.map(blockedIfOutside) };
}

const isEqual = ({ steps, problems }: DiffResult): boolean => steps.length === 0 && !problems.some(isError);

const hasFailedRead = ({ steps, problems }: DiffResult): boolean =>
  problems.some(({ isIncomplete }) => isIncomplete === true) || steps.some(({ why }) => why?.code === "E_READ_FAILED");

/** The live object of each step by hand, for who made the difference. */
function withLiveName(found: DiffResult, { liveId }: Unit, account: Account): DiffResult {
  if (liveId === undefined || stepsOf(found, "byHand").length === 0) return found;
  const liveName = lists.map((list) => account.list(list).byId.get(liveId)?.name).find((name) => name !== undefined && name !== "");
  const named = { liveId, ...defined({ liveName }) };
  return { ...found, steps: found.steps.map((step) => (step.standing === "byHand" ? { ...step, ...named } : step)) };
}
