import { canonicalJson } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import { pathText } from "./path-text.ts";

/** Changes that one rule makes in the same way, at least one. */
export interface ChangeGroup {
  readonly first: Change;
  readonly changes: readonly Change[];
}

/**
 * The changes by rule, member, old and new value; what a manifest says literally, by file in place of the rule. Exposing ones first, since they
 * are what a reviewer must not miss, otherwise in the order of the first of each.
 */
export function groupByRule(changes: readonly Change[]): readonly ChangeGroup[] {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const { rule, file, line } = change.cause ?? {};
    const key = canonicalJson([
      rule ?? null,
      file ?? null,
      rule === undefined ? null : (line ?? null),
      pathText(change.path).leaf,
      change.before === undefined ? [] : [change.before],
      change.after === undefined ? [] : [change.after],
      change.risk,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  const all = [...groups.values()].map((group) => ({ first: group[0], changes: group }));
  return [...all.filter(exposes), ...all.filter((group) => !exposes(group))];
}

function exposes(group: ChangeGroup): boolean {
  return group.first.risk === "exposes";
}
