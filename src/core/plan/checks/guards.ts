import { type Address, byText, objectAddress, parseAddress } from "../../base/model/address.ts";
import { changeCount, firstChange, isOfNodes, isOutside, resyncedTables } from "../../base/model/changes.ts";
import { type ChangedNodes, type GuardFinding, type GuardName, guardNames } from "../../base/model/findings.ts";
import { defined, isObject, type JsonValue } from "../../base/model/json/json.ts";
import type { Manifest } from "../../base/model/manifest.ts";
import { eachNode, levelOf, nodePointer } from "../../base/model/nodes.ts";
import type { DraftStep, Finding, ReadyStep } from "../../base/model/plan.ts";
import type { AllowEntry, Guards } from "../../base/model/settings/config.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import type { LiveSize } from "../../kinds/index.ts";
import { kindNamed } from "../../kinds/index.ts";

export interface GuardInput {
  readonly limits: Guards;
  /** Whether `review` is strict. */
  readonly isStrict: boolean;
  /** Of the objects that were compared. */
  readonly sizes: readonly LiveSize[];
  /** What earlier rounds of the run did, so that several rounds can't exceed a limit together. */
  readonly before: readonly Counted[];
  /** Reasons by guard name, from `--allow NAME="reason"`. */
  readonly allowed: ReadonlyMap<string, string>;
  /** `allow` of the config, without entries that have expired. */
  readonly entries: readonly AllowEntry[];
  /** Whether the pattern of an entry names the address. */
  readonly isNamed: (pattern: string, address: Address) => boolean;
  readonly manifests: readonly Manifest[];
  readonly waiting: readonly DraftStep[];
  readonly inScope: (address: Address) => boolean;
  /** The address of the schemas of a live integration, if a SchemaConfig selects it and the run leaves them out. Absent: it leaves out nothing. */
  readonly unscopedSchemasOf?: (liveId: string) => Address | undefined;
  /** What refuses, and what the manifests give up since the base. */
  readonly findings: readonly Finding[];
  /** `allow` of the config at the base, which lifts the guard `loosened`; absent without a base. */
  readonly reviewedEntries: readonly AllowEntry[] | undefined;
}

/** What an item did, as guards count it. */
export interface Counted {
  readonly address: Address;
  readonly created: number;
  /** Relations. */
  readonly removed: number;
  /** Tables. */
  readonly resynced: number;
  readonly exposed: number;
}

export const countedOf = (item: ReadyStep): Counted => ({
  address: item.address,
  created: item.verb === "create" ? 1 : 0,
  removed: item.verb === "unrelate" ? 1 : 0,
  resynced: resyncedTables(item),
  exposed: item.exposedColumns ?? 0,
});

/** What a guard found, in one shape. */
type Found = Pick<GuardFinding, "message" | "address"> & { readonly guard: GuardName } & Omit<GuardFinding["guard"], "allowed" | "until">;

const checks: Readonly<Record<GuardName, (items: readonly ReadyStep[], input: GuardInput) => readonly Found[]>> = {
  maxCreates: creates,
  maxExposedColumns: exposedColumns,
  maxChangedPercent: changedPercent,
  maxRemovedRelations: removedRelations,
  maxResyncedTables: resynced,
  exposureWindow: exposureWindows,
  policy: policyFindings,
  unreviewed: unreviewedColumns,
  outsideChanges,
  loosened,
};

interface CheckedGuards {
  /** The refusals that the user can lift by name, including those that were lifted. */
  readonly guards: readonly GuardFinding[];
  /** Entries of `allow` that lift nothing. */
  readonly unused: readonly AllowEntry[];
}

export function checkGuards(items: readonly ReadyStep[], input: GuardInput): CheckedGuards {
  const found = guardNames.flatMap((name) => checks[name](items, input));
  const refusing = input.findings.filter(({ refuses }) => refuses !== undefined);
  const addresses = [...items, ...input.before, ...input.waiting, ...refusing].flatMap(({ address }) => address ?? []);
  const isUsed = ({ guard, address: pattern }: AllowEntry): boolean =>
    found.some((finding) => finding.guard === guard) &&
    (pattern === undefined || addresses.some((address) => input.isNamed(pattern, address)));
  return {
    guards: found.map(({ guard, message, address, ...measure }) => ({
      rule: guard,
      severity: "error",
      message,
      ...defined({ address }),
      guard: { ...measure, ...liftedBy({ guard, address }, items, input) },
    })),
    unused: input.entries.filter((entry) => !isUsed(entry)),
  };
}

/** A guard is lifted by name, or by entries without whose addresses it would not refuse. */
function liftedBy(
  { guard, address: of }: Pick<Found, "guard"> & { readonly address: Address | undefined },
  items: readonly ReadyStep[],
  input: GuardInput,
): Pick<GuardFinding["guard"], "allowed" | "until"> {
  const reason = input.allowed.get(guard);
  if (reason !== undefined) return { allowed: reason };
  const entries = input.entries.filter((entry) => entry.guard === guard && (guard !== "loosened" || isReviewed(entry, input)));
  const isLeft = ({ address }: { readonly address?: Address }): boolean =>
    !entries.some(({ address: pattern }) => pattern === undefined || (address !== undefined && input.isNamed(pattern, address)));
  const [before, waiting] = [input.before.filter(isLeft), input.waiting.filter(isLeft)];
  const rest = { ...input, before, waiting, findings: input.findings.filter(isLeft) };
  const isRefused = entries.length === 0 || checks[guard](items.filter(isLeft), rest).some(({ address }) => address === of);
  if (isRefused) return {};
  const [until = ""] = entries.map((entry) => entry.until).sort();
  return { allowed: [...new Set(entries.map((entry) => entry.reason))].join("; "), until };
}

/** Whether the entry is at the base already: a pull request does not allow itself to weaken the rules. */
const isReviewed = (entry: AllowEntry, { reviewedEntries }: GuardInput): boolean =>
  reviewedEntries?.some(({ guard, address, until }) => guard === entry.guard && address === entry.address && until >= entry.until) === true;

/**
 * Objects that wait for others of this run. The same run creates them later, so the limit must
 * refuse before the first create. Only a whole manifest waits to be created; tag relations and the
 * parts of a SchemaConfig have longer addresses.
 */
function awaitedCreates(items: readonly ReadyStep[], { waiting, inScope }: GuardInput): readonly DraftStep[] {
  const created = new Set(items.flatMap(({ verb, address }) => (verb === "create" ? [address] : [])));
  return waiting.filter(
    ({ address, liveId }) => liveId === undefined && objectAddress(address) === address && !created.has(address) && inScope(address),
  );
}

const sumOf = (before: readonly Counted[], member: "created" | "removed" | "resynced" | "exposed"): number =>
  before.reduce((sum, one) => sum + one[member], 0);

function creates(items: readonly ReadyStep[], input: GuardInput): readonly Found[] {
  const limit = input.limits.maxCreates;
  const actual =
    sumOf(input.before, "created") + items.filter(({ verb }) => verb === "create").length + awaitedCreates(items, input).length;
  if (actual <= limit) return [];
  const message = `${counted(actual, "object")} would be created, and dimsync has no request that deletes ${actual === 1 ? "it" : "them"}; the limit is ${limit}.`;
  return [{ guard: "maxCreates", message, limit, actual }];
}

function removedRelations(items: readonly ReadyStep[], { limits, before }: GuardInput): readonly Found[] {
  const limit = limits.maxRemovedRelations;
  const actual = sumOf(before, "removed") + items.filter(({ verb }) => verb === "unrelate").length;
  if (actual <= limit) return [];
  const message = `Exclusive tags would be taken off ${counted(actual, "resource")}; the limit is ${limit}. What the service hides because of a tag would become readable.`;
  return [{ guard: "maxRemovedRelations", message, limit, actual }];
}

/** An integration that this run has created reads all of its tables for the first time. */
function resynced(items: readonly ReadyStep[], { limits, before, sizes }: GuardInput): readonly Found[] {
  const limit = limits.maxResyncedTables;
  const known = new Set(sizes.map(({ address }) => address));
  const actual =
    sumOf(before, "resynced") + items.filter(({ address }) => known.has(address)).reduce((sum, item) => sum + resyncedTables(item), 0);
  if (actual <= limit) return [];
  const message = `The sync mode or cursor of ${counted(actual, "table")} would change; the limit is ${limit}. The service can then read each of them again as a whole.`;
  return [{ guard: "maxResyncedTables", message, limit, actual }];
}

function exposedColumns(items: readonly ReadyStep[], { limits, before }: GuardInput): readonly Found[] {
  const removed = items.reduce((sum, item) => sum + changeCount(item, (one) => one.removed !== undefined), 0);
  if (removed > 0) {
    const message = `${counted(removed, "value")} would be readable because what protected ${removed === 1 ? "it" : "them"} was removed, and no new rule says so. Without a rule that is new in this change, the limit is 0. Write the rule that makes ${removed === 1 ? "it" : "them"} readable, or keep what protects ${removed === 1 ? "it" : "them"}.`;
    return [{ guard: "maxExposedColumns", message, limit: 0, actual: removed }];
  }
  const limit = limits.maxExposedColumns;
  const actual = sumOf(before, "exposed") + items.reduce((sum, { exposedColumns: count }) => sum + (count ?? 0), 0);
  if (actual <= limit) return [];
  const message = `${counted(actual, "column")} would become readable; the limit is ${limit}.`;
  return [{ guard: "maxExposedColumns", message, limit, actual }];
}

/** One change of a smaller object would be a large percentage. It is only counted over the target. */
const fewestCounted = 100;

/** Nodes and fields that updates change, over the target and over each integration: a wrong glob can hit one of hundreds. */
function changedPercent(items: readonly ReadyStep[], { limits, sizes }: GuardInput): readonly Found[] {
  const limit = limits.maxChangedPercent;
  const changes = changedByAddress(items);
  const shares = sizes.map(({ address, count, unit }) => ({ address, unit, changed: changes.get(address) ?? 0, population: count }));
  const sum = (of: "changed" | "population"): number => shares.reduce((total, share) => total + share[of], 0);
  const target = { changed: sum("changed"), population: sum("population") };
  const isOver = ({ changed, population }: Share): boolean => population >= fewestCounted && changed * 100 > limit * population;
  const integrations = shares
    .filter((share) => share.unit === "nodes" && isOver(share))
    .map(({ address, changed, population }): ChangedNodes => ({ address, changed, population }))
    .sort((a, b) => b.changed - a.changed || byText(a.address, b.address));
  const over = [...(isOver(target) ? [target] : []), ...integrations];
  if (over.length === 0) return [];
  return [
    {
      guard: "maxChangedPercent",
      message: changedMessage({ target: isOver(target) ? target : undefined, integrations, limit }),
      limit,
      actual: over.map(percentOf).reduce((most, one) => Math.max(most, one)),
      ...target,
      ...(integrations.length === 0 ? {} : { integrations }),
    },
  ];
}

interface Share {
  readonly changed: number;
  readonly population: number;
}

/** How many nodes and fields updates change, by address. */
function changedByAddress(items: readonly ReadyStep[]): ReadonlyMap<Address, number> {
  const counts = new Map<Address, number>();
  for (const item of items) {
    const { verb, address } = item;
    if (verb === "update") counts.set(address, (counts.get(address) ?? 0) + changeCount(item) - doublyChanged(item));
  }
  return counts;
}

/** How many nodes change in two fields. */
function doublyChanged({ changes }: ReadyStep): number {
  const entries = changes.filter((entry) => isOfNodes(entry));
  if (new Set(entries.map(({ field }) => field)).size < 2) return 0;
  const seen = new Set<string>();
  let count = 0;
  for (const { field, nodes } of entries) {
    const level = levelOf(nodes);
    if (entries.every((other) => other.field === field || levelOf(other.nodes) !== level)) continue;
    for (const node of eachNode(nodes)) {
      const pointer = nodePointer(node);
      if (seen.has(pointer)) count++;
      seen.add(pointer);
    }
  }
  return count;
}

/** Rounded up, so that it is never shown as equal to the limit that it exceeds. */
const percentOf = ({ changed, population }: Share): number =>
  Math.min(100, population === 0 ? 100 : Math.ceil((changed * 1000) / population) / 10);

interface ChangedMessage {
  /** If the target is above the limit. */
  readonly target: Share | undefined;
  readonly integrations: readonly ChangedNodes[];
  readonly limit: number;
}

function changedMessage({ target, integrations, limit }: ChangedMessage): string {
  const whole =
    target === undefined
      ? []
      : [
          `${target.changed} of the ${target.population} nodes and fields that were compared (${percentOf(target)}%) would change; the limit is ${limit}%.`,
        ];
  const each = integrations.map((one) => `${one.changed} of ${one.population} (${percentOf(one)}%) in ${one.address}`);
  const within =
    integrations.length === 0
      ? []
      : [`Schemas, tables and columns that would change: ${andMore(each, "integration")}; the limit for one integration is ${limit}%.`];
  return [...whole, ...within, "Check the patterns of the rules that changed."].join(" ");
}

/** Objects that would start to replicate before their SchemaConfig has hashed or disabled anything. */
function exposureWindows(items: readonly ReadyStep[], input: GuardInput): readonly Found[] {
  const created: readonly { readonly address: Address; readonly desired: JsonValue | undefined }[] = [
    ...items.filter(({ verb }) => verb === "create").map(({ address, requests: [request] }) => ({ address, desired: request?.body })),
    ...awaitedCreates(items, input).map((step) => ({ address: step.address, desired: firstChange(step).after })),
  ];
  const atOnce = created.flatMap(({ address, desired }) => {
    const kind = kindNamed(parseAddress(address)?.kind ?? "");
    if (desired === undefined || kind?.replicatesAtOnce?.(desired) !== true) return [];
    return exposureWindow(address, input);
  });
  return [...atOnce, ...items.flatMap((item) => resumedWithout(item, input))];
}

/** An integration that would be resumed although this run leaves out the SchemaConfigs that protect its columns. */
function resumedWithout({ address, liveId, changes }: ReadyStep, { unscopedSchemasOf }: GuardInput): readonly Found[] {
  const isResumed = changes.some((entry) => "path" in entry && entry.path === "/paused" && entry.after === false);
  const schemas = isResumed && liveId !== undefined ? unscopedSchemasOf?.(liveId) : undefined;
  if (schemas === undefined) return [];
  const message = `${address} would be resumed, but --only or --exclude leaves out ${schemas}: data would be replicated before its columns are protected. Include ${schemas}.`;
  return [{ guard: "exposureWindow", message, address }];
}

function exposureWindow(created: Address, { waiting }: GuardInput): readonly Found[] {
  const protecting = waiting.filter((step) => step.waitsFor?.includes(created) === true && protects(firstChange(step).after));
  if (protecting.length === 0) return [];
  const names = protecting.map(({ address }) => address).join(", ");
  const message = `${created} would be created with enabled: true while ${names} hashes or disables something: data would be replicated before that is done. Create the integration with enabled: false.`;
  return [{ guard: "exposureWindow", message, address: created }];
}

/** Whether a desired state has `hashed: true`, `enabled: false` or `disable` anywhere. */
function protects(desired: unknown): boolean {
  if (Array.isArray(desired)) return desired.some(protects);
  if (!isObject(desired)) return false;
  return Object.entries(desired).some(
    ([key, value]) =>
      (key === "hashed" && value === true) || (key === "enabled" && value === false) || value === "disable" || protects(value),
  );
}

const refusing = (guard: GuardName, { findings }: GuardInput): readonly Finding[] => findings.filter(({ refuses }) => refuses === guard);

/** A guard that refuses the first of what it counts. */
const noneAllowed = (guard: GuardName, actual: number, message: string): readonly Found[] =>
  actual === 0 ? [] : [{ guard, message, limit: 0, actual }];

function policyFindings(_items: readonly ReadyStep[], input: GuardInput): readonly Found[] {
  const found = refusing("policy", input);
  const names = [...new Set(found.map(({ rule }) => rule))].sort().join(", ");
  return noneAllowed("policy", found.length, `${counted(found.length, "policy finding")} with severity error: ${names}.`);
}

function unreviewedColumns(_items: readonly ReadyStep[], input: GuardInput): readonly Found[] {
  const actual = refusing("unreviewed", input).reduce((sum, { count = 1 }) => sum + count, 0);
  const message = `${counted(actual, "column")} ${actual === 1 ? "is" : "are"} not in the catalog, so nobody has reviewed ${actual === 1 ? "it" : "them"}. Review and accept with dimsync catalog accept.`;
  return noneAllowed("unreviewed", actual, message);
}

/** What the manifests give up. */
function loosened(_items: readonly ReadyStep[], input: GuardInput): readonly Found[] {
  const found = refusing("loosened", input);
  const count = found.length;
  const codes = [...new Set(found.map(({ rule }) => rule))].join(", ");
  const message = `The manifests make ${counted(count, "rule")} of the project weaker: ${codes}. Only --allow lifts this guard, or an entry of allow that was merged before.`;
  return noneAllowed("loosened", count, message);
}

/** What someone changed in the account, and the plan would undo. */
function outsideChanges(items: readonly ReadyStep[], { isStrict }: GuardInput): readonly Found[] {
  const actual = isStrict ? items.reduce((sum, item) => sum + changeCount(item, isOutside), 0) : 0;
  const message = `${counted(actual, "change")} that someone made in the account would be undone. To keep ${actual === 1 ? "it" : "them"}, accept the drift into the manifests. To undo ${actual === 1 ? "it" : "them"} in CI, run apply by hand, with a reason.`;
  return noneAllowed("outsideChanges", actual, message);
}
