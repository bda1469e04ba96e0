import { eachChange, withTraces } from "../base/model/changes.ts";
import { canonicalJson, defined } from "../base/model/json/json.ts";
import { fromPointer, type Pointer } from "../base/model/json/pointer.ts";
import { keptAs } from "../base/model/kept.ts";
import { getOrAdd } from "../base/model/maps.ts";
import { type NodePath, nodePath } from "../base/model/nodes.ts";
import { type Cause, type Change, type DraftFacts, type DraftStep, locatedCause, type Origin } from "../base/model/plan.ts";
import { isError, type Locate, type Problem } from "../base/model/problem.ts";
import { type Account, type DiffResult, emptyDiff, type Kind, kindNames, kinds, type Pair, type Unit } from "../kinds/index.ts";

/** The same account by the manifests at the base. */
export interface Reviewed {
  readonly account: Account;
  /** By `objectOf`. Empty if `isNow`. */
  readonly pairs: ReadonlyMap<string, Pair>;
  /** Finds lines at the base. */
  readonly locate: Locate;
  /** False if a read failed that only the base manifests need; then every origin is unknown. */
  readonly isComplete: boolean;
  /** Whether its manifests are those of now: then whatever differs was changed in the account. */
  readonly isNow: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Units of different manifests describe the same object if kind and id are equal; without an id, if
 * the address is.
 */
export const objectOf = ({ kind, unit }: Pair): string => `${kind.name} ${unit.liveId ?? unit.address}`;

/** The units of the manifests of these kinds, by `objectOf`. */
export const pairsByObject = (account: Account, ofKinds: readonly Kind[] = kinds): ReadonlyMap<string, Pair> =>
  new Map(
    ofKinds.flatMap((kind) =>
      kind
        .units(
          account.manifests.filter((manifest) => manifest.kind === kind.name),
          account,
        )
        .units.map((unit) => [objectOf({ kind, unit }), { kind, unit }] as const),
    ),
  );

/** What a comparison needs of its base. */
export const schemasAtBase = ({ pairs, isComplete, isNow }: Reviewed): Account["base"] =>
  isComplete ? { isNow, schemas: (id) => pairs.get(`${kindNames.schemaConfig} ${id}`)?.unit } : undefined;

/** The differences of one unit, each with its origin. It is `unknown` without a base. */
export function withOrigin(
  found: DiffResult,
  { kind, unit, live }: Pair & { readonly live: unknown },
  base: Reviewed | undefined,
): DiffResult {
  if (base === undefined || !base.isComplete) return markOrigin(found, undefined);
  const wasNotKept = neverKept(unit, base);
  if (base.isNow) return markOrigin(found, found, { wasNotKept });
  const before = base.pairs.get(objectOf({ kind, unit }))?.unit;
  if (before === undefined) return markOrigin(found, emptyDiff);
  const atBase = kind.diff(before, live, base.account);
  return markOrigin(found, atBase, { wasNotKept, removedOf: removedOf({ kind, unit, live, before }, base) });
}

interface OfChange {
  /** Whether it hashes or disables a node that no apply has found hashed or disabled. */
  readonly wasNotKept?: ((change: Change<DraftFacts>) => boolean) | undefined;
  readonly removedOf?: RemovedOf | undefined;
}

type RemovedOf = (change: Change<DraftFacts>) => Cause | undefined;

/** Nothing is known of an integration that is not in the records. */
function neverKept({ liveId }: Unit, { account: { kept } }: Reviewed): OfChange["wasNotKept"] {
  const before = liveId === undefined ? undefined : kept.get(liveId)?.schemas;
  return (
    before &&
    (({ path, field, risk }) => {
      const node = nodeAt(path);
      return risk === "protects" && node !== undefined && keptAs(before, node, field === "hashed" ? "hashed" : "disabled") === undefined;
    })
  );
}

function nodeAt(path: Pointer): NodePath | undefined {
  const [, schema, , table, , column] = fromPointer(path).slice(0, -1);
  return schema === undefined ? undefined : nodePath(schema, table, column);
}

/** What kept a value protected at the base and is gone. */
function removedOf(
  { kind: { schemas }, unit: now, live, before }: Pair & { readonly live: unknown; readonly before: Unit },
  { account, locate }: Reviewed,
): RemovedOf | undefined {
  if (schemas === undefined || live === undefined || account.isDrift) return undefined;
  const known = new Map<string, Cause>();
  return ({ path, field, risk }) => {
    if (risk !== "exposes" || (field !== "hashed" && field !== "enabled")) return undefined;
    const node = nodeAt(path);
    const cause = node && schemas.removed({ before, now }, live, { path: node, key: field });
    // A rule has one place, and a label of each column that it matches by one.
    return cause && getOrAdd(known, canonicalJson(cause), () => locatedCause(cause, locate));
  };
}

/**
 * Determines origins by a second diff of the same live object, with the manifests of the base ref:
 * - both diffs want the same value: the account changed (`drift`), or no apply has protected it yet (`new`)
 * - the base wants another value: both changed (`conflict`)
 * - only the current manifests want a change: the manifests changed (`config`)
 * Without a second diff, every origin is `unknown`. If the base manifests have errors, differences
 * that its diff does not contain are `unknown` too, because it may have stopped early.
 */
function markOrigin(found: DiffResult, base: DiffResult | undefined, { wasNotKept, removedOf }: OfChange = {}): DiffResult {
  const desiredAtBase = base === undefined ? undefined : desiredValues(base);
  const steps = new Set((base?.steps ?? []).filter(isSentOrHeld).map(stepOf));
  const notInBase: Origin = base === undefined || base.problems.some(isError) ? "unknown" : "config";
  const originOf = (path: Pointer, desired: unknown): Origin => {
    const atBase = desiredAtBase?.get(path);
    if (atBase === undefined) return notInBase;
    return atBase === canonicalJson(desired ?? null) ? "drift" : "conflict";
  };
  const mark = (item: DraftStep): DraftStep => {
    if (item.standing === "byHand")
      return {
        ...item,
        changes: item.changes.map((entry) => ("path" in entry ? { ...entry, origin: originOf(entry.path, entry.after) } : entry)),
      };
    if (!isSentOrHeld(item)) return item;
    // Recording an id concerns the bindings, not the account or the manifests.
    if (item.verb === "bind" || base === undefined) return withOneOrigin(item, "unknown");
    // A create or a relation is one change: it only matters whether the base manifests had it.
    if (item.verb !== "update") return withOneOrigin(item, steps.has(stepOf(item)) ? "drift" : notInBase);
    const traceOf = (change: Change<DraftFacts>) => {
      const origin = originOf(change.path, change.after);
      return { origin: origin === "drift" && wasNotKept?.(change) === true ? "new" : origin, ...defined({ removed: removedOf?.(change) }) };
    };
    return { ...item, changes: withTraces(item.changes, traceOf) };
  };
  return { ...found, steps: found.steps.map(mark) };
}

const isSentOrHeld = ({ standing }: DraftStep): boolean => standing === "ready" || standing === "held";

const withOneOrigin = (item: DraftStep, origin: Origin): DraftStep => ({
  ...item,
  changes: item.changes.map((entry) => ({ ...entry, origin })),
});

const stepOf = ({ verb, naturalKey }: Pick<DraftStep, "verb" | "naturalKey">): string => `${verb} ${canonicalJson(naturalKey ?? null)}`;

/** The desired value of each path that differs, as canonical JSON. */
function desiredValues({ steps }: DiffResult): ReadonlyMap<Pointer, string> {
  const desired = new Map<Pointer, string>();
  for (const step of steps)
    if (step.standing === "byHand" || (step.verb === "update" && isSentOrHeld(step)))
      for (const { path, after } of eachChange(step)) desired.set(path, canonicalJson(after ?? null));
  return desired;
}
