import type { Blocked } from "../../model/plan.ts";
import { andMore } from "../../text/lists.ts";

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
  const byReason = new Map<string, Blocked[]>();
  for (const entry of blocked) {
    const key = JSON.stringify([entry.code, entry.message, entry.command]);
    const group = byReason.get(key);
    if (group === undefined) byReason.set(key, [entry]);
    else group.push(entry);
  }
  return [...byReason.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length <= mostAlone) return group.map((entry) => ({ ...entry, names: entry.address }));
    const { address: _address, ...reason } = first;
    return [{ ...reason, names: andMore(group.map(({ address }) => address)) }];
  });
}
