import pLimit from "p-limit";
import { kinds } from "../kinds/index.ts";
import { type AccountView, type DiffResult, emptyDiff, type Kind, type ReadNeeds, type Unit } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import { ServiceError } from "../model/errors.ts";
import { canonicalJson } from "../model/json.ts";
import type { DraftItem, Manual, Origin } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { OnProgress } from "../model/progress.ts";
import type { Resource } from "../model/resource.ts";
import type { RunReads } from "./cached-reads.ts";
import { failedRead, type ObservedAccount } from "./observe.ts";
import type { Scope } from "./scope.ts";

/** Every difference of the compared units, in the order of kinds and addresses. */
export interface Compared {
  readonly found: readonly DiffResult[];
  /** All that the compared manifests come to, in scope or not. */
  readonly parts: readonly Address[];
  /** Units that were compared and equal what is declared. */
  readonly equal: readonly Address[];
  /** The live objects that were compared, one per unit. */
  readonly liveIds: readonly string[];
  /** Those of them that are integrations whose schemas were read. */
  readonly configured: readonly string[];
  readonly complete: boolean;
}

/** The same account as the manifests of a base ref see it (product §3.6). */
export interface BaseView {
  readonly world: AccountView;
  readonly unitByObject: ReadonlyMap<string, Unit>;
  /** False where a read failed that only the base manifests need: then nothing can be told by them. */
  readonly isWhole: boolean;
}

export interface ComparisonInput {
  readonly observed: ObservedAccount;
  readonly compared: readonly Resource[];
  readonly scope: Scope;
  readonly reads: RunReads;
  readonly onProgress: OnProgress | undefined;
  readonly base: BaseView | undefined;
  /** How many units are read and compared at a time: so many live objects are held at most. */
  readonly concurrency: number;
  /** Told of every live object while it is at hand, with what was found; it is let go afterwards. */
  readonly needs: ReadNeeds;
  readonly inspect: ((kind: Kind, unit: Unit, live: unknown, found: DiffResult) => void) | undefined;
}

/** Units of different manifests are about one object where kind and id agree; without an id, where the address does. */
export const objectOf = (kind: Kind, { liveId, address }: Unit): string => `${kind.name} ${liveId ?? address}`;

/**
 * Reads and compares unit by unit. A unit's live state lives only as long as its comparison, so memory follows the largest unit and the number
 * of differences, not the size of the account. Without a limit here all schemas would be there at once as soon as columns have to be read as well:
 * the client's queue has every unit's first read before any unit's second.
 */
export async function compareUnits({
  observed,
  compared,
  scope,
  reads,
  onProgress,
  base,
  concurrency,
  needs,
  inspect,
}: ComparisonInput): Promise<Compared> {
  const { world } = observed;
  const { asked, before, parts } = unitsOf(observed, compared, scope);
  const total = asked.length;
  const limit = pLimit(concurrency);
  const equal: Address[] = [];
  let complete = true;
  let done = 0;

  const compare = async (kind: Kind, unit: Unit): Promise<DiffResult> => {
    try {
      const live = unit.liveId === undefined ? undefined : await kind.observe?.(unit, reads, needs);
      const difference = withoutIgnored(kind.diff(unit, live, world), world);
      inspect?.(kind, unit, live, difference);
      if (isEqual(difference)) equal.push(unit.address);
      if (base === undefined || isEqual(difference)) return difference;
      const before = base.unitByObject.get(objectOf(kind, unit));
      const wanted = before === undefined ? emptyDiff : kind.diff(before, live, base.world);
      return markOrigin(difference, base.isWhole ? wanted : undefined);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      complete = false;
      const problem = failedRead(error, unit.address);
      return {
        ...emptyDiff,
        problems: [problem],
        blocked: [{ address: unit.address, code: problem.code, message: error.message }],
      };
    } finally {
      done++;
      onProgress?.({ type: "step", phase: "read", done, total, label: unit.address });
    }
  };

  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const liveIds = asked.flatMap(({ unit }) => unit.liveId ?? []);
  const configured = asked.flatMap(({ kind, unit }) => (kind.name === "SchemaConfig" ? (unit.liveId ?? []) : []));
  const kindOf = asked.map(({ kind }) => kind);
  // From here on the queue alone holds the units, so that each is gone once it is compared, and with the last of a program what that has learned.
  const after = await Promise.all(asked.splice(0).map(({ kind, unit }) => limit(() => compare(kind, unit))));
  return { found: [...before, ...after, ...conclusions(kindOf, after)], parts, equal, liveIds, configured, complete };
}

/** The units of the scope, in the order of kinds and addresses, and what could not become one. */
function unitsOf(
  { world, unreadLists }: ObservedAccount,
  compared: readonly Resource[],
  scope: Scope,
): {
  readonly asked: { readonly kind: Kind; readonly unit: Unit }[];
  readonly before: readonly DiffResult[];
  readonly parts: readonly Address[];
} {
  const asked: { readonly kind: Kind; readonly unit: Unit }[] = [];
  const parts: Address[] = [];
  const before: DiffResult[] = [];
  for (const kind of kinds) {
    const ofKind = compared.filter((resource) => resource.kind === kind.name);
    if (ofKind.length === 0) continue;
    const isReadable = (resource: Resource): boolean =>
      !kind.lists(resource, { taggedBy: world.taggedBy }).some((name) => unreadLists.has(name));
    const { units, blocked, deferred, problems } = kind.units(ofKind.filter(isReadable), world);
    const unread = ofKind
      .filter((resource) => !isReadable(resource))
      .map(({ address }) => ({ address, code: "E_READ_FAILED", message: "A list that it needs could not be read." }));
    before.push({ ...emptyDiff, problems, deferred, blocked: [...blocked, ...unread] });
    for (const { address } of [...units, ...blocked, ...deferred, ...unread]) parts.push(address);
    for (const unit of units) if (scope.unit(unit.address)) asked.push({ kind, unit });
  }
  return { asked, before, parts };
}

/** What a kind says over all its units. `found` belongs to `kindOf`, one by one. */
function conclusions(kindOf: readonly Kind[], found: readonly DiffResult[]): readonly DiffResult[] {
  return kinds.flatMap((kind) => {
    const tallies = kindOf.flatMap((of, index) => (of === kind ? (found[index]?.tally ?? []) : []));
    return kind.conclude === undefined || tallies.length === 0 ? [] : [{ ...emptyDiff, problems: kind.conclude(tallies) }];
  });
}

const isEqual = (found: DiffResult): boolean =>
  found.items.length + found.manual.length + found.blocked.length + found.deferred.length === 0 &&
  !found.problems.some((problem: Problem) => problem.severity === "error");

/** Kinds leave ignored leaves out of their requests; what is ignored as a whole, and manual steps, are left out here. */
function withoutIgnored(found: DiffResult, { ignored }: AccountView): DiffResult {
  return {
    ...found,
    // A relation and a binding are one leaf each: nothing of them is left to send without it.
    items: found.items.filter(
      ({ address, action, changes }) =>
        !ignored(address, "") &&
        !((action === "relate" || action === "bind") && changes.length > 0 && changes.every(({ path }) => ignored(address, path))),
    ),
    manual: found.manual.filter(({ address, path }) => !ignored(address, path)),
    blocked: found.blocked.filter(({ address }) => !ignored(address, "")),
    deferred: found.deferred.filter(({ address }) => !ignored(address, "")),
    unverifiable: found.unverifiable.flatMap((one) => {
      const paths = one.paths.filter((path) => !ignored(one.address, path));
      return paths.length === 0 ? [] : [{ ...one, paths }];
    }),
    problems: found.problems.filter(({ address }) => address === undefined || !ignored(address, "")),
  };
}

/**
 * Tells differences apart by a second comparison of the same live object, with the manifests of the base ref (product §3.6): what the base manifests
 * find different too, and want the same, is drift of the account; what they want otherwise is a conflict; what they find as it should be, or do not
 * mention, comes from the change of the manifests. Without a second comparison (`base` undefined) every origin is unknown, and where it found mistakes,
 * the origin of what it then did not look at.
 */
function markOrigin(found: DiffResult, base: DiffResult | undefined): DiffResult {
  const wanted = base === undefined ? undefined : wishesOf(base);
  const steps = new Set((base?.items ?? []).map(stepOf));
  const silence: Origin = base === undefined || base.problems.some(({ severity }) => severity === "error") ? "unknown" : "config";
  const originOf = (path: Pointer, wish: unknown): Origin => {
    const baseWish = wanted?.get(path);
    if (baseWish === undefined) return silence;
    return baseWish === canonicalJson(wish ?? null) ? "drift" : "conflict";
  };
  const mark = (item: DraftItem): DraftItem => {
    // Recording an id is about the bindings file, neither about the account nor about the manifests.
    if (item.action === "bind") return item;
    // A create or a relation is one wish as a whole: what matters is whether the base manifests had it.
    const whole: Origin | undefined = item.action === "update" ? undefined : steps.has(stepOf(item)) ? "drift" : silence;
    return { ...item, changes: item.changes.map((change) => ({ ...change, origin: whole ?? originOf(change.path, change.after) })) };
  };
  const markManual = (step: Omit<Manual, "id">): Omit<Manual, "id"> => ({ ...step, origin: originOf(step.path, step.expected) });
  return { ...found, items: found.items.map(mark), manual: found.manual.map(markManual) };
}

const stepOf = ({
  action,
  address,
  naturalKey,
}: {
  readonly action: string;
  readonly address: Address;
  readonly naturalKey?: unknown;
}): string => `${action} ${address.includes("#") ? address.slice(address.indexOf("#")) : ""} ${canonicalJson(naturalKey ?? null)}`;

function wishesOf({ items, manual }: DiffResult): ReadonlyMap<Pointer, string> {
  return new Map([
    ...items
      .filter(({ action }) => action === "update")
      .flatMap(({ changes }) => changes.map(({ path, after }): [Pointer, string] => [path, canonicalJson(after ?? null)])),
    ...manual.map(({ path, expected }): [Pointer, string] => [path, canonicalJson(expected ?? null)]),
  ]);
}
