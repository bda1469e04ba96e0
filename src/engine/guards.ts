import { kindNamed } from "../kinds/index.ts";
import { type Address, manifestAddress, parseAddress } from "../model/address.ts";
import type { Guards } from "../model/config.ts";
import { isObject, type JsonValue } from "../model/json.ts";
import type { Deferred, GuardFinding, Item, PolicyFinding } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import { counted } from "../text/counts.ts";

export interface GuardInput {
  readonly limits: Guards;
  /** Live objects that were compared. */
  readonly population: number;
  /** What earlier rounds of the run did, so that several rounds can't exceed a limit together. */
  readonly before: { readonly created: number; readonly exposed: number };
  /** Reasons by guard name, from `--allow NAME="reason"`. */
  readonly allowed: ReadonlyMap<string, string>;
  readonly resources: readonly Resource[];
  readonly deferred: readonly Deferred[];
  readonly inScope: (address: Address) => boolean;
  /** The findings that refuse. */
  readonly policy: readonly PolicyFinding[];
}

export const guardNames = ["maxCreates", "maxExposedColumns", "maxChangedPercent", "exposureWindow", "policy"] as const;

type Found = Omit<GuardFinding, "allowed"> & { readonly guard: (typeof guardNames)[number] };

/** The refusals that the user can lift by name, including those that were lifted. */
export function checkGuards(items: readonly Item[], input: GuardInput): readonly GuardFinding[] {
  const found = [
    ...creates(items, input),
    ...exposedColumns(items, input),
    ...changedPercent(items, input),
    ...exposureWindows(items, input),
    ...policyFindings(input),
  ];
  return found.map((finding) => {
    const reason = input.allowed.get(finding.guard);
    return reason === undefined ? finding : { ...finding, allowed: reason };
  });
}

/**
 * Objects that wait for others of this run: they will be created by the same run, so it is better
 * refused before the first create. Only a whole manifest waits to be created; tag relations and
 * the parts of a SchemaConfig have longer addresses.
 */
const awaitedCreates = ({ deferred, inScope }: GuardInput): readonly Deferred[] =>
  deferred.filter(({ address }) => manifestAddress(address) === address && inScope(address));

function creates(items: readonly Item[], input: GuardInput): readonly Found[] {
  const limit = input.limits.maxCreates;
  const actual = input.before.created + items.filter(({ action }) => action === "create").length + awaitedCreates(input).length;
  if (actual <= limit) return [];
  const message = `${actual} objects would be created, and the interface can't delete any of them; the limit is ${limit}.`;
  return [{ guard: "maxCreates", message, limit, actual }];
}

function exposedColumns(items: readonly Item[], { limits, before }: GuardInput): readonly Found[] {
  const limit = limits.maxExposedColumns;
  const actual = before.exposed + items.reduce((sum, { exposedColumns: count }) => sum + (count ?? 0), 0);
  if (actual <= limit) return [];
  const message = `${actual} additional columns would be replicated, or replicated unhashed; the limit is ${limit}.`;
  return [{ guard: "maxExposedColumns", message, limit, actual }];
}

function changedPercent(items: readonly Item[], { limits, population }: GuardInput): readonly Found[] {
  const limit = limits.maxChangedPercent;
  const changed = new Set(items.filter(({ action }) => action === "update").map(({ kind, liveId }) => `${kind} ${liveId}`)).size;
  const actual = population === 0 ? 0 : Math.round((changed / population) * 100);
  if (population < limits.minPopulation || actual <= limit) return [];
  const message = `${changed} of ${population} objects (${actual}%) would change; the limit is ${limit}%.`;
  return [{ guard: "maxChangedPercent", message, limit, actual }];
}

/** Objects that would start to replicate before their SchemaConfig has hashed or disabled anything. */
function exposureWindows(items: readonly Item[], input: GuardInput): readonly Found[] {
  const created: readonly { readonly address: Address; readonly desired: JsonValue | undefined }[] = [
    ...items.filter(({ action }) => action === "create").map(({ address, requests }) => ({ address, desired: requests[0]?.body })),
    ...awaitedCreates(input),
  ];
  return created.flatMap(({ address, desired }) => {
    const kind = kindNamed(parseAddress(address)?.kind ?? "");
    if (desired === undefined || kind?.replicatesAtOnce?.(desired) !== true) return [];
    return exposureWindow(address, input);
  });
}

function exposureWindow(created: Address, { resources, deferred }: GuardInput): readonly Found[] {
  const resource = resources.find(({ address }) => address === created);
  if (resource === undefined || resource.lifecycle.acceptExposureWindow !== "") return [];
  const protecting = deferred.filter(({ waitsFor, desired }) => waitsFor.includes(created) && protects(desired));
  if (protecting.length === 0) return [];
  const names = protecting.map(({ address }) => address).join(", ");
  const message = `${created} would be created with enabled: true while ${names} hashes or disables something: data would be replicated before that is done. Create it with enabled: false, or give the reason in lifecycle.acceptExposureWindow.`;
  return [{ guard: "exposureWindow", message }];
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

function policyFindings({ policy }: GuardInput): readonly Found[] {
  const actual = policy.length;
  if (actual === 0) return [];
  const names = [...new Set(policy.map((finding) => finding.policy))].sort().join(", ");
  const message = `${counted(actual, "policy finding")} with severity error: ${names}.`;
  return [{ guard: "policy", message, limit: 0, actual }];
}
