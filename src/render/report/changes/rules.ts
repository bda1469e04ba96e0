import { integrationOfSchemas } from "../../../model/address.ts";
import { eachChange, isOfNodes, sizeOf } from "../../../model/changes.ts";
import type { JsonValue } from "../../../model/json/json.ts";
import { type Level, levelOf, nodeLists } from "../../../model/nodes.ts";
import type { ChangeFacts, ChangeGroup, Item } from "../../../model/plan.ts";
import { visible } from "../../../text/control-characters.ts";
import { counted } from "../../../text/counts.ts";
import { joinParts } from "../../../text/lists.ts";
import { pathText } from "../../../text/paths.ts";
import { valueText } from "../../../text/values.ts";
import { commonTrace, type Traced } from "../attribution.ts";
import { isAlarm, riskText, type Words } from "../words.ts";
import { labelText, placeText } from "./changes.ts";

/** The changes of one rule with the same effect, in all integrations. */
export interface RuleChanges {
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
  readonly count: number;
  /** "shop-01 public.users.email" of the first changes; without the integration if there is only one. */
  readonly nodes: readonly string[];
}

/**
 * The changes of schema configurations by rule. Highlighted risks first, otherwise in the order of
 * the first change.
 */
export function changesByRule(items: readonly Item[], words: Words): readonly RuleChanges[] {
  const hasSeveral = items.length > 1;
  return leveledGroups(items).flatMap(({ levels }) =>
    [...levels.values()].map((group): RuleChanges => {
      const { facts, nodes, count } = group;
      const { cause } = facts;
      const place = cause === undefined ? "" : placeText(cause);
      return {
        what: whatText(group, hasSeveral, words),
        risk: riskText(facts, words),
        isAlarm: isAlarm(facts),
        trace: commonTrace(group.all),
        rule: visible(cause?.rule ?? cause?.file ?? ""),
        place: cause?.rule === undefined ? "" : joinParts([place, labelsOf(group)], " "),
        reason: visible(cause?.reason ?? ""),
        count,
        nodes: nodes.map(({ integration, node }) => (hasSeveral ? `${integration} ${node}` : node)),
      };
    }),
  );
}

/** "shop-01" of "Schemas/shop-01"; any other address as it is. */
export const integrationOf = (address: string): string => visible(integrationOfSchemas(address) ?? address);

/** The labels by which rules match the changes. */
export const labelsOf = ({ all }: Pick<RuleGroup, "all">): string => labelText(all.map(({ cause }) => cause));

/**
 * Entries of one or several items with the same rule (or file and line, for a literal entry), field, old and new value.
 * Their labels and who made them can differ.
 */
export interface RuleGroup {
  /** Of the first change. */
  readonly path: string;
  /** Of the first entry. */
  readonly facts: ChangeFacts;
  readonly all: readonly ChangeFacts[];
  readonly count: number;
  readonly integrations: ReadonlySet<string>;
  /** Those with changed columns, of all integrations. */
  readonly tables: ReadonlySet<string>;
  /** The first ones. */
  readonly nodes: readonly ChangedNode[];
}

interface ChangedNode {
  readonly integration: string;
  readonly node: string;
}

/** A group while entries are added. */
interface Growing extends RuleGroup {
  readonly all: ChangeFacts[];
  readonly integrations: Set<string>;
  readonly tables: Set<string>;
  readonly nodes: ChangedNode[];
  count: number;
}

/** The whole group, and the same by level: a literal tree can set the same for tables and columns. */
interface LeveledGroup {
  readonly whole: Growing;
  readonly levels: Map<Level, Growing>;
}

/** How many nodes of a group are kept: no format shows more. */
const mostNodes = 10;

export const groupByRule = (items: readonly Item[]): readonly RuleGroup[] => leveledGroups(items).map(({ whole }) => whole);

/** Highlighted risks first, otherwise in the order of the first change. */
function leveledGroups(items: readonly Item[]): readonly LeveledGroup[] {
  const groups = new Map<string, LeveledGroup>();
  for (const { address, changes } of items)
    for (const entry of changes) {
      const key = keyOf(entry);
      const group = groups.get(key) ?? { whole: newGroup(entry), levels: new Map<Level, Growing>() };
      groups.set(key, group);
      const level = isOfNodes(entry) ? levelOf(entry.nodes) : "schema";
      const ofLevel = group.levels.get(level) ?? newGroup(entry);
      group.levels.set(level, ofLevel);
      for (const one of [group.whole, ofLevel]) addEntry(one, entry, integrationOf(address));
    }
  const all = [...groups.values()];
  return [...all.filter(({ whole }) => isAlarm(whole.facts)), ...all.filter(({ whole }) => !isAlarm(whole.facts))];
}

const newGroup = (facts: ChangeGroup): Growing => ({
  ...{ path: firstPath(facts), facts, count: 0, nodes: [], all: [] },
  ...{ integrations: new Set(), tables: new Set() },
});

function addEntry(group: Growing, entry: ChangeGroup, integration: string): void {
  group.count += sizeOf(entry);
  group.all.push(entry);
  group.integrations.add(integration);
  if (group.nodes.length < mostNodes)
    for (const { path } of eachChange({ changes: [entry] })) {
      group.nodes.push({ integration, node: pathText(path).node });
      if (group.nodes.length >= mostNodes) break;
    }
  if (isOfNodes(entry) && levelOf(entry.nodes) === "column")
    for (const { above } of nodeLists(entry.nodes)) group.tables.add(JSON.stringify([integration, ...above]));
}

function firstPath(entry: ChangeGroup): string {
  for (const { path } of eachChange({ changes: [entry] })) return path;
  return "";
}

function keyOf(entry: ChangeGroup): string {
  const { cause, before, after, risk } = entry;
  const { rule, file, line } = cause ?? {};
  const place = [rule ?? null, file ?? null, rule === undefined ? (line ?? null) : null];
  const field = isOfNodes(entry) ? entry.field : pathText(entry.path).leaf;
  return JSON.stringify([...place, field, before === undefined ? [] : [before], after === undefined ? [] : [after], risk]);
}

/** Unless there are several integrations, the name of the only one is left out. */
function whatText({ path, facts: { before, after }, count, tables, integrations }: RuleGroup, hasSeveral: boolean, words: Words): string {
  const { leaf, table, nodeInTable } = pathText(path);
  const level: Level = nodeInTable !== "" ? "column" : table !== undefined ? "table" : "schema";
  const [only = ""] = integrations;
  const where = [
    counted(count, level),
    ...(level === "column" ? [`in ${counted(tables.size, "table")}`] : []),
    ...(hasSeveral ? [`of ${integrations.size === 1 ? only : counted(integrations.size, "integration")}`] : []),
  ].join(" ");
  if (words.kind === "DriftReport") return `${where}: ${leaf} ${String(before)}, desired ${String(after)}`;
  if (words.kind === "Comparison") return `${where}: ${leaf} ${valueOr(before, words.unknown)} → ${valueOr(after, words.unset)}`;
  const verb = leaf === "hashed" ? (after === true ? "hash" : "unhash") : after === true ? "enable" : "disable";
  return `${verb} ${where}`;
}

const valueOr = (value: JsonValue | undefined, none: string): string => (value === undefined ? none : valueText(value));
