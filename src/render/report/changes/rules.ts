import { integrationOfSchemas } from "../../../model/address.ts";
import { canonicalJson } from "../../../model/json/json.ts";
import { eachLeaf, type LeafKind } from "../../../model/json/packed-leaves.ts";
import { changesOf, type Facts } from "../../../model/packed-item.ts";
import type { Item } from "../../../model/plan.ts";
import { visible } from "../../../text/control-characters.ts";
import { counted } from "../../../text/counts.ts";
import { joinParts } from "../../../text/lists.ts";
import { pathText } from "../../../text/paths.ts";
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
  return groupByRule(items).flatMap(({ levels }) =>
    [...levels.values()].map((group): RuleChanges => {
      const { facts, nodes, count } = group;
      const { cause, risk } = facts;
      const place = cause === undefined ? "" : placeText(cause);
      return {
        what: whatText(group, hasSeveral, words),
        risk: riskText(risk),
        isAlarm: isAlarm(facts),
        trace: commonTrace([...group.all]),
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
export const labelsOf = ({ all }: Pick<ChangeGroup, "all">): string => labelText([...all].map(({ cause }) => cause));

/** Changes with the same rule (or file, for a literal entry), member, old and new value. Counted, so that a million are not held. */
export interface ChangeGroup {
  /** Of the first change. */
  readonly path: string;
  readonly facts: Facts;
  /** The different facts of all. */
  readonly all: ReadonlySet<Facts>;
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

type Level = "schema" | "table" | "column";

/** With the same by level: a literal tree can set the same for tables and columns. */
interface RuleGroup extends ChangeGroup {
  readonly levels: ReadonlyMap<Level, ChangeGroup>;
}

/** A group while its changes are counted. */
interface Growing extends ChangeGroup {
  readonly all: Set<Facts>;
  readonly integrations: Set<string>;
  readonly tables: Set<string>;
  readonly nodes: ChangedNode[];
  count: number;
}

type GrowingRule = Growing & { readonly levels: Map<Level, Growing> };

/** How many nodes of a group are kept: no format shows more. */
const mostNodes = 10;

/** Highlighted risks first, otherwise in the order of the first change. */
export function groupByRule(items: readonly Item[]): readonly RuleGroup[] {
  const groups = new Map<string, GrowingRule>();
  for (const item of items) addItem(groups, item);
  const all = [...groups.values()];
  return [...all.filter(({ facts }) => isAlarm(facts)), ...all.filter(({ facts }) => !isAlarm(facts))];
}

function addItem(groups: Map<string, GrowingRule>, item: Item): void {
  const integration = integrationOf(item.address);
  // The groups of a level and kind are looked up once.
  const known = new Map<LeafKind<Facts>, Map<Level | undefined, readonly Growing[]>>();
  let lastParent: string | undefined;
  let level: Level | undefined;
  let added = new Set<Growing>();
  eachLeaf(changesOf(item), (parent, name, kind) => {
    if (parent !== lastParent) [lastParent, level, added] = [parent, levelOf(parent), new Set()];
    const byLevel = known.get(kind) ?? new Map<Level | undefined, readonly Growing[]>();
    known.set(kind, byLevel);
    let both = level === undefined ? undefined : byLevel.get(level);
    if (both === undefined) {
      both = groupsOf(groups, parent + name + kind.suffix, { facts: kind.value, level: level ?? "schema" });
      byLevel.set(level, both);
    }
    for (const group of both) {
      group.count++;
      if (group.nodes.length < mostNodes) group.nodes.push({ integration, node: pathText(parent + name + kind.suffix).node });
      if (added.has(group)) continue;
      added.add(group);
      group.integrations.add(integration);
      if (level === "column") group.tables.add(`${integration} ${parent}`);
    }
  });
}

/** The group of a rule, and its group of the level. */
function groupsOf(
  groups: Map<string, GrowingRule>,
  path: string,
  { facts, level }: { readonly facts: Facts; readonly level: Level },
): readonly Growing[] {
  const key = keyOf(pathText(path).leaf, facts);
  const group = groups.get(key) ?? { ...newGroup(path, facts), levels: new Map<Level, Growing>() };
  groups.set(key, group);
  const ofLevel = group.levels.get(level) ?? newGroup(path, facts);
  group.levels.set(level, ofLevel);
  for (const one of [group, ofLevel]) one.all.add(facts);
  return [group, ofLevel];
}

const newGroup = (path: string, facts: Facts): Growing => ({
  ...{ path, facts, count: 0, nodes: [] },
  ...{ all: new Set(), integrations: new Set(), tables: new Set() },
});

function keyOf(leaf: string, { cause, before, after, risk }: Facts): string {
  const { rule, file, line } = cause ?? {};
  const place = [rule ?? null, file ?? null, rule === undefined ? (line ?? null) : null];
  return canonicalJson([...place, leaf, before === undefined ? [] : [before], after === undefined ? [] : [after], risk]);
}

/** The level of the nodes below a pointer; undefined outside schemas. */
function levelOf(parent: string): Level | undefined {
  if (parent === "/schemas/") return "schema";
  if (/^\/schemas\/[^/]*\/tables\/$/u.test(parent)) return "table";
  return /^\/schemas\/[^/]*\/tables\/[^/]*\/columns\/$/u.test(parent) ? "column" : undefined;
}

/** Unless there are several integrations, the name of the only one is left out. */
function whatText({ path, facts: { before, after }, count, tables, integrations }: ChangeGroup, hasSeveral: boolean, words: Words): string {
  const { leaf, table, nodeInTable } = pathText(path);
  const level: Level = nodeInTable !== "" ? "column" : table !== undefined ? "table" : "schema";
  const [only = ""] = integrations;
  const where = [
    counted(count, level),
    ...(level === "column" ? [`in ${counted(tables.size, "table")}`] : []),
    ...(hasSeveral ? [`of ${integrations.size === 1 ? only : counted(integrations.size, "integration")}`] : []),
  ].join(" ");
  if (words.kind === "DriftReport") return `${where}: ${leaf} ${String(before)}, desired ${String(after)}`;
  const verb = leaf === "hashed" ? (after === true ? "hash" : "unhash") : after === true ? "enable" : "disable";
  return `${verb} ${where}`;
}
