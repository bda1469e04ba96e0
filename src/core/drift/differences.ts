import { eachChange, firstChange } from "../base/model/changes.ts";
import { openFindings } from "../base/model/findings.ts";
import { type Change, type Origin, type Plan, type ReadyStep, readySteps, stepsOf, whyOf } from "../base/model/plan.ts";
import { pathText, spaced, wholePath } from "../base/text/paths.ts";
import { actorText, attributionText, differenceText } from "../render/index.ts";

/** One difference of a report, as lists name it: equal ones of several accounts have equal words. It contains no value of the account. */
export interface NamedDifference {
  /** "Schemas/shop" */
  readonly address: string;
  /** "" for a whole object. */
  readonly path: string;
  /** "public.users.email is no longer hashed" */
  readonly what: string;
  readonly isExposed: boolean;
  /** No request can change it. */
  readonly isByHand?: true;
  readonly origin?: Origin;
  /** Who changed it, and when: only if an event names it. */
  readonly actor?: string;
  readonly at?: string;
  /** An event about the object, if none names the node: "Orders was changed by dana@example.com, 2026-03-03 07:55 UTC". */
  readonly event?: string;
}

export const isSameNode = (one: Pick<NamedDifference, "address" | "path">, other: Pick<NamedDifference, "address" | "path">): boolean =>
  one.address === other.address && one.path === other.path;

/**
 * The exposed ones first; then other differences, steps by hand, what is not compared, and violated policies of which no difference tells. What was kept
 * hashed or disabled and cannot be shown to be so is exposed, too.
 */
export function differencesOf(report: Plan): readonly NamedDifference[] {
  const other = (address: string, path: string, what: string): NamedDifference => ({ address, path, what, isExposed: false });
  const items = readySteps(report).filter(({ verb }) => verb !== "bind");
  const differences = [
    ...items.flatMap((item) =>
      item.verb === "create" ? other(item.address, "", "is missing") : Array.from(eachChange(item), (change) => differenceOf(change, item)),
    ),
    ...stepsOf(report, "byHand").map((step): NamedDifference => {
      const one = { ...differenceOf(firstChange(step), step), isByHand: true } as const;
      const [what = ""] = whyOf(step).message.split(/[.:](?: |$)/u);
      return step.obligation === true ? { ...one, what, isExposed: true } : { ...one, what: `${one.what} (by hand)` };
    }),
    ...stepsOf(report, "blocked").map(({ address, why }) => other(address, "", `is not compared (${why?.code})`)),
  ];
  const told = new Set(differences.map(({ address, path }) => `${address}#${path}`));
  const policies = openFindings(report).filter(({ address, path }) => !told.has(`${address}#${path}`));
  const violated = policies.map(({ address, path, rule }) => other(address, path, spaced(pathText(path).node, `violates ${rule}`)));
  return [...differences, ...violated].sort((a, b) => Number(b.isExposed) - Number(a.isExposed));
}

function differenceOf(change: Change, item: Pick<ReadyStep, "address" | "liveName" | "attribution">): NamedDifference {
  const { path, risk, origin, attribution } = change;
  const isExposed = risk === "exposed";
  const what = isExposed ? spaced(pathText(path).node, "is", differenceText(change)) : spaced(wholePath(path), "differs");
  const one = { address: item.address, path, what, isExposed, ...(origin === undefined ? {} : { origin }) };
  if (attribution?.own === false) return { ...one, actor: actorText(attribution), at: attribution.at };
  // Only an event that names the node names a person beside it.
  const event = attribution === undefined && origin === "config" ? "" : attributionText({ ...item, ...change });
  return event === "" ? one : { ...one, event };
}
