import { kinds } from "../kinds/index.ts";
import { type AccountView, type DiffResult, emptyDiff, type Kind, type Unit } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import { eachChange, withTraces } from "../model/changes.ts";
import { canonicalJson } from "../model/json/json.ts";
import type { Pointer } from "../model/json/pointer.ts";
import type { DraftItem, Manual, Origin } from "../model/plan.ts";
import type { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import type { ObservedAccount } from "./observe.ts";

export interface BaseUnit {
  readonly kind: Kind;
  readonly unit: Unit;
}

/** The same account, compared with the manifests of a base ref. */
export interface BaseView {
  readonly account: AccountView;
  /** By `objectOf`. */
  readonly unitByObject: ReadonlyMap<string, BaseUnit>;
  /** False if a read failed that only the base manifests need; then every origin is unknown. */
  readonly isComplete: boolean;
}

/**
 * Units of different manifests describe the same object if kind and id are equal; without an id, if
 * the address is.
 */
export const objectOf = (kind: Kind, { liveId, address }: Unit): string => `${kind.name} ${liveId ?? address}`;

/** All units of the manifests, by `objectOf`. */
export const unitsByObject = (account: AccountView): ReadonlyMap<string, BaseUnit> =>
  new Map(
    kinds.flatMap((kind) =>
      kind
        .units(
          account.resources.filter((resource) => resource.kind === kind.name),
          account,
        )
        .units.map((unit) => [objectOf(kind, unit), { kind, unit }] as const),
    ),
  );

/** The units that the base manifests have in the same account. */
export function baseView(
  now: ObservedAccount,
  { account, unreadLists }: ObservedAccount,
): { readonly view: BaseView; readonly problems: readonly Problem[] } {
  const unread = [...unreadLists].filter((list) => !now.unreadLists.has(list)).map(({ name }) => name);
  const unknown: Problem = {
    code: "W_BASE_UNREAD",
    severity: "warning",
    message: `The manifests at the base ref need a list that could not be read (${unread.join(", ")}), so the origin of the differences is unknown.`,
  };
  const isComplete = unread.length === 0;
  return { view: { account, unitByObject: unitsByObject(account), isComplete }, problems: isComplete ? [] : [unknown] };
}

/** The base manifests of the kinds that are compared. Names may have changed since, so all of a kind are needed. */
export function baseResources(resources: readonly Resource[], compared: readonly Resource[]): readonly Resource[] {
  const wanted = new Set(compared.map(({ kind }) => kind));
  return resources.filter(({ kind }) => wanted.has(kind));
}

/** The differences of one unit, each with its origin. It is `unknown` without a base. */
export function withOrigin(found: DiffResult, { kind, unit, live }: ComparedUnit, base: BaseView | undefined): DiffResult {
  if (base === undefined || !base.isComplete) return markOrigin(found, undefined);
  const before = base.unitByObject.get(objectOf(kind, unit))?.unit;
  return markOrigin(found, before === undefined ? emptyDiff : kind.diff(before, live, base.account));
}

export interface ComparedUnit {
  readonly kind: Kind;
  readonly unit: Unit;
  readonly live: unknown;
}

/**
 * Determines origins by a second diff of the same live object, with the manifests of the base ref:
 * - both diffs want the same value: the account changed (`drift`)
 * - the base wants another value: both changed (`conflict`)
 * - only the current manifests want a change: the manifests changed (`config`)
 * Without a second diff, every origin is `unknown`. If the base manifests have errors, differences
 * that its diff does not contain are `unknown` too, because it may have stopped early.
 */
function markOrigin(found: DiffResult, base: DiffResult | undefined): DiffResult {
  const desiredAtBase = base === undefined ? undefined : desiredValues(base);
  const steps = new Set((base?.items ?? []).map(stepOf));
  const notInBase: Origin = base === undefined || base.problems.some(({ severity }) => severity === "error") ? "unknown" : "config";
  const originOf = (path: Pointer, desired: unknown): Origin => {
    const atBase = desiredAtBase?.get(path);
    if (atBase === undefined) return notInBase;
    return atBase === canonicalJson(desired ?? null) ? "drift" : "conflict";
  };
  const mark = (item: DraftItem): DraftItem => {
    // Recording an id concerns the bindings, not the account or the manifests.
    if (item.action === "bind" || base === undefined) return withOneOrigin(item, "unknown");
    // A create or a relation is one change: it only matters whether the base manifests had it.
    if (item.action !== "update") return withOneOrigin(item, steps.has(stepOf(item)) ? "drift" : notInBase);
    return { ...item, changes: withTraces(item.changes, ({ path, after }) => ({ origin: originOf(path, after) })) };
  };
  const markManual = (step: Omit<Manual, "id">): Omit<Manual, "id"> => ({ ...step, origin: originOf(step.path, step.expected) });
  const held = found.held === undefined ? {} : { held: found.held.map(mark) };
  return { ...found, items: found.items.map(mark), ...held, manual: found.manual.map(markManual) };
}

const withOneOrigin = (item: DraftItem, origin: Origin): DraftItem => ({
  ...item,
  changes: item.changes.map((entry) => ({ ...entry, origin })),
});

type StepKey = Pick<DraftItem, "action" | "address" | "naturalKey">;

const stepOf = ({ action, address, naturalKey }: StepKey): string =>
  `${action} ${resourcePart(address)} ${canonicalJson(naturalKey ?? null)}`;

const resourcePart = (address: Address): string => (address.includes("#") ? address.slice(address.indexOf("#")) : "");

/** The desired value of each path that differs, as canonical JSON. */
function desiredValues({ items, manual }: DiffResult): ReadonlyMap<Pointer, string> {
  return new Map([
    ...items
      .filter(({ action }) => action === "update")
      .flatMap((item) => Array.from(eachChange(item), ({ path, after }): [Pointer, string] => [path, canonicalJson(after ?? null)])),
    ...manual.map(({ path, expected }): [Pointer, string] => [path, canonicalJson(expected ?? null)]),
  ]);
}
