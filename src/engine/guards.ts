import type { Address } from "../model/address.ts";
import type { Guards } from "../model/config.ts";
import { isObject } from "../model/json.ts";
import type { Deferred, GuardFinding, Item, PolicyFinding } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";

/** What guards judge besides the items: counts of the rounds before this one are added, so that rounds can't pass a limit piecemeal. */
export interface GuardInput {
  readonly limits: Guards;
  /** Live objects that were compared. */
  readonly population: number;
  readonly createdBefore: number;
  readonly exposedBefore: number;
  /** Reasons by guard name, from `--allow NAME="reason"`. */
  readonly allowed: ReadonlyMap<string, string>;
  readonly resources: readonly Resource[];
  readonly deferred: readonly Deferred[];
  readonly inScope: (address: Address) => boolean;
  readonly policy: readonly PolicyFinding[];
}

export const guardNames = ["maxCreates", "maxExposedColumns", "maxChangedPercent", "exposureWindow", "policy"] as const;

/** The refusals that a person can lift by name (product §3.5), lifted ones included. */
export function checkGuards(items: readonly Item[], input: GuardInput): readonly GuardFinding[] {
  const { limits, allowed } = input;
  const findings: GuardFinding[] = [];
  const add = (
    guard: (typeof guardNames)[number],
    message: string,
    figures: { readonly limit?: number; readonly actual?: number } = {},
  ): void => {
    const reason = allowed.get(guard);
    findings.push({ guard, message, ...figures, ...(reason === undefined ? {} : { allowed: reason }) });
  };

  // What waits for something of this run is going to be created by it, too: better refused before the first create than after it.
  const waiting = input.deferred.filter(({ address }) => address.startsWith("Integration/") && input.inScope(address));
  const creates = input.createdBefore + items.filter(({ action }) => action === "create").length + waiting.length;
  if (creates > limits.maxCreates)
    add(
      "maxCreates",
      `${creates} objects would be created, and none of them can be deleted through the interface; the limit is ${limits.maxCreates}.`,
      { limit: limits.maxCreates, actual: creates },
    );

  const exposed = input.exposedBefore + items.reduce((sum, { exposedColumns }) => sum + (exposedColumns ?? 0), 0);
  if (exposed > limits.maxExposedColumns)
    add(
      "maxExposedColumns",
      `${exposed} columns would flow, or flow in clear, that do not now; the limit is ${limits.maxExposedColumns}.`,
      { limit: limits.maxExposedColumns, actual: exposed },
    );

  const changed = new Set(items.filter(({ action }) => action === "update").map(({ kind, liveId }) => `${kind} ${liveId}`)).size;
  const percent = input.population === 0 ? 0 : Math.round((changed / input.population) * 100);
  if (input.population >= limits.minPopulation && percent > limits.maxChangedPercent)
    add(
      "maxChangedPercent",
      `${changed} of ${input.population} objects (${percent}%) would change; the limit is ${limits.maxChangedPercent}%.`,
      { limit: limits.maxChangedPercent, actual: percent },
    );

  const created = items.filter(({ kind, action }) => kind === "Integration" && action === "create");
  const enabled = [
    ...created.filter(({ requests }) => requests[0]?.body["enabled"] === true),
    ...waiting.filter(({ desired }) => isObject(desired) && desired["enabled"] === true),
  ];
  for (const { address } of enabled) {
    const message = exposureWindow(address, input);
    if (message !== undefined) add("exposureWindow", message);
  }
  const broken = input.policy.filter(({ severity }) => severity === "error");
  if (broken.length > 0)
    add(
      "policy",
      `${broken.length} ${broken.length === 1 ? "finding" : "findings"} of policies with severity error: ${[...new Set(broken.map(({ policy }) => policy))].sort().join(", ")}.`,
      { limit: 0, actual: broken.length },
    );
  return findings;
}

/** An integration that begins to copy before its schema configuration has hashed or disabled what it should. */
function exposureWindow(integration: Address, { resources, deferred }: GuardInput): string | undefined {
  const resource = resources.find(({ address }) => address === integration);
  if (resource === undefined || resource.lifecycle.acceptExposureWindow !== "") return undefined;
  const protecting = deferred.filter(
    ({ address, waitsFor, desired }) => address.startsWith("SchemaConfig/") && waitsFor.includes(integration) && protects(desired),
  );
  if (protecting.length === 0) return undefined;
  const names = protecting.map(({ address }) => address).join(", ");
  return `${integration} would be created with enabled: true while ${names} hashes or disables something: data would flow before that is done. Create it with enabled: false, or give the reason in lifecycle.acceptExposureWindow.`;
}

/** Whether a wish has `hashed: true`, `enabled: false` or `disable` anywhere. */
function protects(wish: unknown): boolean {
  if (Array.isArray(wish)) return wish.some(protects);
  if (!isObject(wish)) return false;
  return Object.entries(wish).some(
    ([key, value]) =>
      (key === "hashed" && value === true) || (key === "enabled" && value === false) || value === "disable" || protects(value),
  );
}
