import { isDeepStrictEqual } from "node:util";
import pLimit from "p-limit";
import { kinds, lists } from "../kinds/index.ts";
import { type Account, type DiffResult, emptyDiff, type Kind, type Pair, type ReadNeeds, type Unit } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import { isFailedCreation, ServiceError } from "../model/errors.ts";
import { defined } from "../model/json/json.ts";
import type { Manifest } from "../model/manifest.ts";
import { type Blocked, type DraftItem, isOfRelation } from "../model/plan.ts";
import { turn } from "../model/runtime/clock.ts";
import type { OnProgress } from "../model/runtime/progress.ts";
import type { Reads } from "../model/service.ts";
import type { CheckedUnit } from "./checks/policies.ts";
import { creationFailed, failedRead, type ObservedAccount } from "./observe.ts";
import { type BaseView, objectOf, withOrigin } from "./origin.ts";
import { holdOthers } from "./protect-only.ts";
import type { Scope } from "./scope.ts";

/** The differences of all compared units, in the order of kinds and addresses. */
export interface Compared {
  readonly found: readonly DiffResult[];
  /** The addresses of all units of the compared manifests, in scope or not. */
  readonly parts: readonly Address[];
  /** The live objects of all units, in scope or not (`objectOf`). */
  readonly objects: ReadonlySet<string>;
  /** Units without a difference. */
  readonly equal: readonly Address[];
  /** The live objects that were compared, one per unit. */
  readonly liveIds: readonly string[];
  /** Those of them that are integrations whose schemas were read. */
  readonly configured: readonly string[];
  readonly complete: boolean;
}

interface ComparisonInput {
  readonly observed: ObservedAccount;
  readonly compared: readonly Manifest[];
  readonly scope: Scope;
  readonly reads: Reads;
  readonly onProgress: OnProgress | undefined;
  readonly base: BaseView | undefined;
  /** Whether only protecting changes are sent. */
  readonly protectOnly?: boolean;
  /** How many units are read and compared at a time, and so how many live objects are in memory. */
  readonly concurrency: number;
  readonly needs: ReadNeeds;
  /** Called with every live object while it is in memory, and with its differences. */
  readonly checkUnit: (compared: CheckedUnit) => void;
  /** Aborted: nothing more is compared, as if its reads had failed. */
  readonly signal: AbortSignal;
}

/**
 * Reads and compares unit by unit. A live object is in memory only while it is compared, so memory
 * grows with the largest object and the number of differences, not with the account. The limit
 * here is necessary although the client has one: the client's queue takes the first read of every
 * unit before the second read of any, so all schemas would be in memory at once.
 */
export async function compareUnits(input: ComparisonInput): Promise<Compared> {
  const { concurrency, onProgress } = input;
  const { asked, before, parts, objects } = unitsOf(input);
  const total = asked.length;
  const limit = pLimit(concurrency);
  const shared = newSharing();
  let done = 0;
  const compareNext = async (one: Pair): Promise<ComparedUnit> => {
    try {
      const compared = await compareUnit(one, input);
      return { ...compared, found: { ...compared.found, items: compared.found.items.map(shared) } };
    } finally {
      done++;
      onProgress?.({ type: "step", phase: "read", done, total, label: one.unit.address });
    }
  };
  onProgress?.({ type: "phase", phase: "read", round: 1, total });
  const liveIds = asked.flatMap(({ unit }) => unit.liveId ?? []);
  const configured = asked.flatMap(({ kind, unit }) => (kind.schemas !== undefined ? (unit.liveId ?? []) : []));
  // From here on only the queue holds the units, so that each can be collected once it is compared.
  const after = await Promise.all(asked.splice(0).map((one) => limit(() => compareNext(one))));
  const found = after.map((one) => one.found);
  return {
    found: [...before, ...found, ...conclusions(after)],
    parts,
    objects,
    equal: after.flatMap(({ equal }) => equal ?? []),
    liveIds,
    configured,
    complete: after.every(({ failed }) => !failed),
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

interface ComparedUnit {
  readonly kind: Kind;
  readonly found: DiffResult;
  /** The unit's address, if it has no difference. */
  readonly equal?: Address;
  readonly failed: boolean;
}

async function compareUnit({ kind, unit }: Pair, input: ComparisonInput): Promise<ComparedUnit> {
  const { observed, reads, needs, checkUnit, base, protectOnly } = input;
  const { account } = observed;
  try {
    await turn();
    throwIfInterrupted(input.signal);
    const live = unit.liveId === undefined ? undefined : await kind.observe?.(unit, reads, needs);
    const all = withLiveName(withoutIgnored(kind.diff(unit, live, account), account), unit, account);
    const found = protectOnly === true ? holdOthers(all) : all;
    checkUnit({ kind, unit, live, difference: found });
    if (isEqual(all)) return { kind, found, equal: unit.address, failed: false };
    const isTraced = base !== undefined || account.isDrift;
    return { kind, found: isTraced ? withOrigin(found, { kind, unit, live }, base) : found, failed: false };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isFailedCreation(error)) {
      const { address, liveId = "" } = unit;
      return {
        kind,
        found: { ...emptyDiff, blocked: [{ address, code: "E_CREATION_FAILED", message: creationFailed(liveId, error) }] },
        failed: false,
      };
    }
    const problem = failedRead(error, unit.address);
    const message = problem.read === undefined ? error.message : unreadMessage;
    const blocked = [{ address: unit.address, code: problem.code, message }];
    return { kind, found: { ...emptyDiff, problems: [problem], blocked }, failed: true };
  }
}

/** The same for all units: the problem names the request and the reason. */
const unreadMessage = "Not compared, because a read that it needs failed.";

function throwIfInterrupted({ aborted }: AbortSignal): void {
  if (aborted) throw new ServiceError("E_INTERRUPTED", "The run was interrupted.", { method: "GET", path: "", sent: "never" });
}

/** The units in scope, in the order of kinds and addresses, and the manifests that have none. */
function unitsOf({ observed, compared, scope }: ComparisonInput): {
  readonly asked: Pair[];
  readonly before: readonly DiffResult[];
  readonly parts: readonly Address[];
  readonly objects: ReadonlySet<string>;
} {
  const { account, unreadLists } = observed;
  const objects = new Set<string>();
  const asked: Pair[] = [];
  const parts: Address[] = [];
  const before: DiffResult[] = [];
  for (const kind of kinds) {
    const ofKind = compared.filter((manifest) => manifest.kind === kind.name);
    if (ofKind.length === 0) continue;
    const isReadable = (manifest: Manifest): boolean => !kind.lists(manifest, account).some((list) => unreadLists.has(list));
    const { units, blocked, deferred, problems } = kind.units(ofKind.filter(isReadable), account);
    const unread = ofKind
      .filter((manifest) => !isReadable(manifest))
      .map(({ address }): Blocked => ({ address, code: "E_READ_FAILED", message: unreadMessage }));
    before.push({ ...emptyDiff, problems, deferred, blocked: [...blocked, ...unread] });
    for (const { address } of [...units, ...blocked, ...deferred, ...unread]) parts.push(address);
    for (const unit of units) objects.add(objectOf({ kind, unit }));
    for (const unit of units) if (scope.unit(unit.address, account)) asked.push({ kind, unit });
  }
  return { asked, before, parts, objects };
}

/** The problems of each kind's units together. */
function conclusions(units: readonly ComparedUnit[]): readonly DiffResult[] {
  return kinds.flatMap((kind) => {
    const tallies = units.flatMap((one) => (one.kind === kind ? (one.found.tally ?? []) : []));
    return kind.schemas === undefined || tallies.length === 0 ? [] : [{ ...emptyDiff, problems: kind.schemas.conclude(tallies) }];
  });
}

const isEqual = ({ items, manual, blocked, deferred, unverifiable, notKept = [], problems }: DiffResult): boolean =>
  items.length + manual.length + blocked.length + deferred.length + unverifiable.length + notKept.length === 0 &&
  problems.every(({ severity }) => severity !== "error");

/** The live object of each manual step, for who made the difference. */
function withLiveName(found: DiffResult, { liveId }: Unit, account: Account): DiffResult {
  if (liveId === undefined || found.manual.length === 0) return found;
  const liveName = lists.map((list) => account.list(list).byId.get(liveId)?.name).find((name) => name !== undefined && name !== "");
  return { ...found, manual: found.manual.map((step) => ({ ...step, liveId, ...defined({ liveName }) })) };
}

/** Kinds leave ignored values out of their requests. This removes ignored items and manual steps. */
function withoutIgnored(found: DiffResult, { ignored }: Account): DiffResult {
  return {
    ...found,
    // A relation and a binding are one value each: without it, nothing is left to send.
    items: found.items.filter(
      (item) =>
        !ignored(item.address, "") &&
        !(
          (isOfRelation(item) || item.action === "bind") &&
          item.changes.length > 0 &&
          item.changes.every((entry) => "path" in entry && ignored(item.address, entry.path))
        ),
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
