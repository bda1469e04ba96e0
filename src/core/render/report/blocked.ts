import { isRelation, kindOf, schemasKind } from "../../base/model/address.ts";
import { type Step, type Why, whyOf } from "../../base/model/plan.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore, grouped } from "../../base/text/lists.ts";

/** More than this many objects that are blocked for the same reason are combined into one entry. */
export const mostAlone = 3;

export interface BlockedGroup {
  readonly why: Why;
  /** The address, or "31 assets: a, b, c and 28 more". */
  readonly names: string;
  /** The address, if it is only one. */
  readonly address?: string;
}

/** What is blocked, with one entry for many objects that have the same kind and code, and whose messages differ in names only. */
export function blockedGroups(blocked: readonly Step[]): readonly BlockedGroup[] {
  return grouped(blocked, reasonOf).flatMap((group): readonly BlockedGroup[] => {
    if (group.length <= mostAlone) return group.map((step) => ({ address: step.address, names: step.address, why: whyOf(step) }));
    const [{ address }] = group;
    const why = whyOf(group[0]);
    const isEqual = group.every((entry) => entry.why?.message === why.message);
    return [{ why: isEqual ? why : { ...why, message: `${address}: ${why.message}` }, names: namesOf(group) }];
  });
}

/** A key without the names in the message and the command. The same message is one reason, whatever the kind. */
function reasonOf(step: Step): string {
  const { address } = step;
  const { code, message, command = "" } = whyOf(step);
  const general = withoutNames(message);
  return JSON.stringify([general === message ? "" : kindOf(address), code, command.split(" ")[1], general]);
}

/** Without strings in quotes, addresses, and ids with what follows in parentheses. */
const withoutNames = (message: string): string => message.replaceAll(/"(?:[^"\\]|\\.)*"|\b[A-Z][A-Za-z]+\/[^\s,]+|\S+ \([^)]*\)/gu, "…");

function namesOf(group: readonly [Step, ...Step[]]): string {
  const addresses = group.map(({ address }) => address);
  const kind = kindOf(group[0].address);
  if (addresses.some((address) => kindOf(address) !== kind || isRelation(address))) return andMore(addresses, "object");
  const names = addresses.map((address) => address.slice(kind.length + 1));
  const noun = kind === schemasKind ? "integration" : kind.toLowerCase();
  return `${kind === schemasKind ? "schemas of " : ""}${counted(group.length, noun)}: ${andMore(names, noun)}`;
}
