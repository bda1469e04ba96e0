import { integrationOfSchemas } from "../../../model/address.ts";
import { eachChange, isOfNodes, isOutside, sizeOf } from "../../../model/changes.ts";
import type { JsonValue } from "../../../model/json/json.ts";
import { toPointer } from "../../../model/json/pointer.ts";
import { getOrAdd } from "../../../model/maps.ts";
import { type Level, levelOf, nodeLists } from "../../../model/nodes.ts";
import type { Cause, ChangeFacts, ChangeGroup, ReadyStep } from "../../../model/plan.ts";
import { visible } from "../../../text/control-characters.ts";
import { counted } from "../../../text/counts.ts";
import { pathText } from "../../../text/paths.ts";
import { valueText } from "../../../text/values.ts";
import type { RuleChanges } from "../../blocks.ts";
import { commonTrace } from "../attribution.ts";
import { isAlarm, type Words } from "../words.ts";
import { changeWhy, labelText } from "./changes.ts";

// Examples of what a rule changes; more of them if data becomes readable.
const mostExamples = { usual: 3, alarm: 10 };

/**
 * The changes of schema configurations by rule. Highlighted risks first, otherwise in the order of
 * the first change.
 */
export function changesByRule(items: readonly ReadyStep[], words: Words): readonly RuleChanges[] {
  const hasSeveral = items.length > 1;
  return groupsOf(items, levelOfEntry).map((group): RuleChanges => {
    const { facts, all, nodes, count } = group;
    const most = isAlarm(facts) ? mostExamples.alarm : mostExamples.usual;
    return {
      ...changeWhy(facts, words, commonTrace(all), causesOf(all)),
      what: whatText(group, hasSeveral, words),
      count,
      level: levelAt(group.path),
      examples: nodes.slice(0, most).map(({ integration, node }) => (hasSeveral ? `${integration} ${node}` : node)),
    };
  });
}

/** A literal tree can set the same for tables and columns. */
const levelOfEntry = (entry: ChangeGroup): Level => (isOfNodes(entry) ? levelOf(entry.nodes) : "schema");

const causesOf = (all: readonly ChangeFacts[]): readonly (Cause | undefined)[] => all.map(({ cause }) => cause);

/** "shop-01" of "Schemas/shop-01"; any other address as it is. */
export const integrationOf = (address: string): string => visible(integrationOfSchemas(address) ?? address);

/** The labels by which rules match the changes. */
export const labelsOf = ({ all }: Pick<RuleGroup, "all">): string => labelText(causesOf(all));

/**
 * Entries of one or several items with the same rule or literal entry (its file and line), field, old and new value.
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

export const groupByRule = (items: readonly ReadyStep[]): readonly RuleGroup[] => groupsOf(items, () => "all levels");

/** Highlighted risks first, otherwise in the order of the first change. Those of one rule follow each other. */
function groupsOf(items: readonly ReadyStep[], partOf: (entry: ChangeGroup) => string): readonly RuleGroup[] {
  const byRule = new Map<string, Map<string, Growing>>();
  const keyOf = newKeys();
  for (const { address, changes } of items) {
    const integration = integrationOf(address);
    for (const entry of changes) {
      const parts = getOrAdd(byRule, keyOf(entry), () => new Map<string, Growing>());
      addEntry(
        getOrAdd(parts, partOf(entry), () => newGroup(entry)),
        entry,
        integration,
      );
    }
  }
  const all = [...byRule.values()].flatMap((parts) => [...parts.values()]);
  return [...all.filter(({ facts }) => isAlarm(facts)), ...all.filter(({ facts }) => !isAlarm(facts))];
}

const newGroup = (facts: ChangeGroup): Growing => ({
  path: firstPath(facts),
  facts,
  count: 0,
  nodes: [],
  all: [],
  integrations: new Set(),
  tables: new Set(),
});

function addEntry(group: Growing, entry: ChangeGroup, integration: string): void {
  group.count += sizeOf(entry);
  group.all.push(entry);
  group.integrations.add(integration);
  if (group.nodes.length < mostExamples.alarm)
    for (const { path } of eachChange({ changes: [entry] })) {
      group.nodes.push({ integration, node: pathText(path).node });
      if (group.nodes.length >= mostExamples.alarm) break;
    }
  if (isOfNodes(entry) && levelOf(entry.nodes) === "column")
    for (const { above } of nodeLists(entry.nodes)) group.tables.add(toPointer([integration, ...above]));
}

function firstPath(entry: ChangeGroup): string {
  for (const { path } of eachChange({ changes: [entry] })) return path;
  return "";
}

/** A text for each rule, field, old and new value. With labels, a cause can occur in each integration of a fleet. */
function newKeys(): (entry: ChangeGroup) => string {
  const places = new Map<Cause | undefined, string>();
  return (entry) => {
    const { cause, before, after, risk, removed } = entry;
    const place = getOrAdd(places, cause, () => {
      const { rule, file, line } = cause ?? {};
      return JSON.stringify([rule ?? null, file ?? null, line ?? null]);
    });
    const field = isOfNodes(entry) ? entry.field : pathText(entry.path).leaf;
    return `${place} ${JSON.stringify([field, before === undefined ? [] : [before], after === undefined ? [] : [after], risk, isOutside(entry), removed ?? null])}`;
  };
}

function levelAt(path: string): Level {
  const { table, nodeInTable } = pathText(path);
  return nodeInTable !== "" ? "column" : table !== undefined ? "table" : "schema";
}

/** Unless there are several integrations, the name of the only one is left out. */
function whatText({ path, facts: { before, after }, count, tables, integrations }: RuleGroup, hasSeveral: boolean, words: Words): string {
  const { leaf } = pathText(path);
  const level = levelAt(path);
  const [only = ""] = integrations;
  const where = [
    counted(count, level),
    ...(level === "column" ? [`in ${counted(tables.size, "table")}`] : []),
    ...(hasSeveral ? [`of ${integrations.size === 1 ? only : counted(integrations.size, "integration")}`] : []),
  ].join(" ");
  if (words.kind === "DriftReport") return `${where}: ${leaf} ${String(before)}, desired ${String(after)}`;
  if (typeof after === "string") return `set ${leaf} of ${where}: ${valueOr(before, words.unknown)} → ${valueOr(after, words.unset)}`;
  const verb = leaf === "hashed" ? (after === true ? "hash" : "unhash") : after === true ? "enable" : "disable";
  return `${verb} ${where}`;
}

const valueOr = (value: JsonValue | undefined, none: string): string => (value === undefined ? none : valueText(value));
