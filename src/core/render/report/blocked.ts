import type { Blocked } from "../../model/plan.ts";
import { andMore, grouped } from "../../text/lists.ts";

/** More than this many objects that are blocked for the same reason are combined into one entry. */
export const mostAlone = 3;

export interface BlockedGroup extends Omit<Blocked, "address"> {
  /** The address, or "Asset/a, Asset/b, Asset/c and 4 more". */
  readonly names: string;
  /** The address, if it is only one. */
  readonly address?: string;
}

/** What is blocked, with one entry for many objects that have the same code, message and command. */
export function blockedGroups(blocked: readonly Blocked[]): readonly BlockedGroup[] {
  return grouped(blocked, ({ code, message, command }) => JSON.stringify([code, message, command])).flatMap((group) => {
    if (group.length <= mostAlone) return group.map((entry) => ({ ...entry, names: entry.address }));
    const [{ address: _address, ...reason }] = group;
    return [{ ...reason, names: andMore(group.map(({ address }) => address)) }];
  });
}
