import { parseAddress } from "../../../model/address.ts";
import { canonicalJson } from "../../../model/json/json.ts";
import type { Change, Item } from "../../../model/plan.ts";
import { visible } from "../../../text/control-characters.ts";
import { counted } from "../../../text/counts.ts";
import { joinParts } from "../../../text/lists.ts";
import { pathText } from "../../../text/paths.ts";
import { commonTrace, type Traced } from "../attribution.ts";
import { isAlarm, riskText, type Words } from "../words.ts";
import { labelText, placeText } from "./changes.ts";
import { grouped } from "./grouped.ts";

/** The changes of one rule with the same effect, in all integrations. */
export interface RuleChanges {
  readonly changes: readonly Change[];
  /** "hash 312 columns in 87 tables of 9 integrations"; a report adds the values instead of a verb. */
  readonly what: string;
  readonly risk: string;
  readonly isAlarm: boolean;
  readonly trace: Traced;
  /** The rule's id or position; the file for a literal entry. */
  readonly rule: string;
  /** "manifests/pii.yaml:9", with the label if the rule matches by one; "" if `rule` is the file. */
  readonly place: string;
  readonly reason: string;
  /** "shop-01 public.users.email", one per change; without the integration if there is only one. */
  readonly nodes: readonly string[];
}

/**
 * The changes of schema configurations by rule. Highlighted risks first, otherwise in the order of
 * the first change.
 */
export function changesByRule(items: readonly Item[], words: Words): readonly RuleChanges[] {
  const labels = new Map<Change, string>();
  for (const item of items) {
    const label = integrationOf(item.address);
    for (const change of item.changes) labels.set(change, label);
  }
  const labelOf = (change: Change): string => labels.get(change) ?? "";
  return groupByRule(items.flatMap(({ changes }) => changes))
    .flatMap(byLevel)
    .map((changes): RuleChanges => {
      const [first] = changes;
      const { cause } = first;
      const place = cause === undefined ? "" : placeText(cause);
      return {
        changes,
        what: whatText(changes, items.length === 1 ? undefined : labelOf, words),
        risk: riskText(first.risk),
        isAlarm: isAlarm(first),
        trace: commonTrace(changes),
        rule: visible(cause?.rule ?? cause?.file ?? ""),
        place: cause?.rule === undefined ? "" : joinParts([place, labelText(changes.map((change) => change.cause))], " "),
        reason: visible(cause?.reason ?? ""),
        nodes: changes.map((change) => `${items.length > 1 ? `${labelOf(change)} ` : ""}${pathText(change.path).node}`),
      };
    });
}

/** "shop-01" of "SchemaConfig/shops@shop-01"; any other address as it is. */
export const integrationOf = (address: string): string => visible(parseAddress(address)?.on ?? address);

type Changes = readonly [Change, ...Change[]];

/** By rule (or file, for a literal entry), member, old and new value. */
export function groupByRule(changes: readonly Change[]): readonly Changes[] {
  const groups = grouped(changes, (change) => {
    const { rule, file, line } = change.cause ?? {};
    return canonicalJson([
      rule ?? null,
      file ?? null,
      rule === undefined ? null : (line ?? null),
      pathText(change.path).leaf,
      change.before === undefined ? [] : [change.before],
      change.after === undefined ? [] : [change.after],
      change.risk,
    ]);
  });
  return [...groups.filter(([first]) => isAlarm(first)), ...groups.filter(([first]) => !isAlarm(first))];
}

/** A literal tree can set the same for tables and columns. */
const byLevel = (changes: Changes): readonly Changes[] => grouped(changes, ({ path }) => levelOf(path));

function levelOf(path: string): "schema" | "table" | "column" {
  const { table, nodeInTable } = pathText(path);
  return nodeInTable !== "" ? "column" : table !== undefined ? "table" : "schema";
}

/** Without `labelOf`, there is only one integration, and its name is left out. */
function whatText(changes: Changes, labelOf: ((change: Change) => string) | undefined, words: Words): string {
  const [{ path, before, after }] = changes;
  const { leaf } = pathText(path);
  const level = levelOf(path);
  const integrations = new Set(changes.map((change) => labelOf?.(change) ?? ""));
  const [only = ""] = integrations;
  const tables = new Set(changes.map((change) => JSON.stringify([labelOf?.(change), pathText(change.path).table]))).size;
  const where = [
    counted(changes.length, level),
    ...(level === "column" ? [`in ${counted(tables, "table")}`] : []),
    ...(labelOf === undefined ? [] : [`of ${integrations.size === 1 ? only : counted(integrations.size, "integration")}`]),
  ].join(" ");
  if (words.kind === "DriftReport") return `${where}: ${leaf} ${String(before)}, desired ${String(after)}`;
  const verb = leaf === "hashed" ? (after === true ? "hash" : "unhash") : after === true ? "enable" : "disable";
  return `${verb} ${where}`;
}
