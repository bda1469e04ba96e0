import { parseAddress } from "../../model/address.ts";
import type { Change, Item } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { pathText } from "../../text/paths.ts";
import { groupByRule } from "./groups.ts";

/** What one rule changes in the same way, over all integrations. */
export interface RuleTotal {
  readonly first: Change;
  readonly changes: readonly Change[];
  /** "312 columns in 87 tables of 9 integrations" */
  readonly extent: string;
  /** "hash 312 columns in 87 tables of 9 integrations" */
  readonly deed: string;
  /** "shop-01 public.users.email", one per change. */
  readonly names: readonly string[];
}

/** The changes of schema configurations by rule, exposing ones first, then in the order of the first of each. */
export function totalsByRule(items: readonly Item[]): readonly RuleTotal[] {
  const labels = new Map<Change, string>(
    items.flatMap(({ address, changes }) => {
      const label = visible(parseAddress(address)?.on ?? address);
      return changes.map((change) => [change, label] as const);
    }),
  );
  const labelOf = (change: Change): string => labels.get(change) ?? "";
  return groupByRule(items.flatMap(({ changes }) => changes)).flatMap(({ changes: alike }) =>
    byLevel(alike).map((changes): RuleTotal => {
      const [first] = changes;
      const { table, nodeInTable, leaf } = pathText(first.path);
      const integrations = new Set(changes.map(labelOf));
      const [only = ""] = integrations;
      const where = integrations.size === 1 ? only : counted(integrations.size, "integration");
      const tables = new Set(changes.map((change) => JSON.stringify([labelOf(change), pathText(change.path).table]))).size;
      const inTables = nodeInTable === "" ? "" : ` in ${counted(tables, "table")}`;
      const level = nodeInTable !== "" ? "column" : table !== undefined ? "table" : "schema";
      const extent = `${counted(changes.length, level)}${inTables} of ${where}`;
      return {
        first,
        changes,
        extent,
        deed: `${verb(leaf, first.after)} ${extent}`,
        names: changes.map((change) => `${labelOf(change)} ${pathText(change.path).node}`),
      };
    }),
  );
}

/** A literal tree may say the same of tables and of columns. */
function byLevel(changes: readonly Change[]): readonly (readonly [Change, ...Change[]])[] {
  const levels = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const { table, nodeInTable } = pathText(change.path);
    const key = `${table === undefined} ${nodeInTable === ""}`;
    const level = levels.get(key);
    if (level === undefined) levels.set(key, [change]);
    else level.push(change);
  }
  return [...levels.values()];
}

function verb(leaf: string, after: Change["after"]): string {
  if (leaf === "hashed") return after === true ? "hash" : "un-hash";
  return after === true ? "enable" : "disable";
}
