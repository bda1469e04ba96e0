import type { Found } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import { canonicalJson } from "../model/json.ts";
import type { DraftItem, Manual, Origin } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";

/**
 * Tells differences apart by a second comparison of the same live object, with the manifests of the base ref (product §3.6): what the base manifests
 * find different too, and want the same, is drift of the account; what they want otherwise is a conflict; what they find as it should be, or do not
 * mention, comes from the change of the manifests. Without a second comparison (`base` undefined) every origin is unknown, and where it found mistakes,
 * the origin of what it then did not look at.
 */
export function markOrigin(found: Found, base: Found | undefined): Found {
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

function wishesOf({ items, manual }: Found): ReadonlyMap<Pointer, string> {
  return new Map([
    ...items
      .filter(({ action }) => action === "update")
      .flatMap(({ changes }) => changes.map(({ path, after }): [Pointer, string] => [path, canonicalJson(after ?? null)])),
    ...manual.map(({ path, expected }): [Pointer, string] => [path, canonicalJson(expected ?? null)]),
  ]);
}
