import { defined } from "../../../base/model/json/json.ts";
import {
  type ColumnTree,
  locationIn,
  type Manifest,
  problemIn,
  type SchemaConfigSpec,
  type SchemaExpectation,
  type SchemaMatch,
  type SchemaRule,
  type TableTexts,
} from "../../../base/model/manifest.ts";
import { everyName } from "../../../base/model/maps.ts";
import type { Problem, SourceLocation } from "../../../base/model/problem.ts";
import { type Depth, type LiveNode, levelNames, type NodeCause } from "../../../base/model/schema-tree.ts";
import { isSameMode } from "../../../base/model/sync-mode.ts";
import { wantedLabels } from "../../patterns/labels.ts";
import { type NodePatterns, nodePatterns } from "../../patterns/nodes.ts";

type WhereClause = NonNullable<SchemaMatch["where"]>;
export type Expected = Omit<SchemaExpectation, "match">;

/** A rule with its own `match`, not one that uses a RuleSet. */
type OwnRule = Exclude<SchemaRule, { readonly use: string }>;

/** A rule and where it is written: in the SchemaConfig, or in a RuleSet that it uses. */
export interface PlacedRule {
  readonly rule: OwnRule;
  /**
   * The cause of changes: the id, or "rule 3"; in a RuleSet "pii-columns rule 3". Counted from 1.
   */
  readonly name: string;
  readonly owner: Manifest;
  /** "/spec/rules/2" */
  readonly pointer: string;
}

/** A rule or an `expect` entry of a SchemaConfig, with compiled patterns. */
export interface CompiledRule {
  readonly type: "rule";
  /** The deepest level that the match names. The rule applies to nodes of this level only. */
  readonly depth: Depth;
  /** By depth; undefined matches every name. */
  readonly parts: NodePatterns["parts"];
  /** As it is written. */
  readonly match: SchemaMatch;
  /** Only columns with one of these labels. */
  readonly labels: readonly string[] | undefined;
  readonly where: WhereClause | undefined;
  readonly ignores: boolean;
  readonly set: (ColumnTree & TableTexts) | undefined;
  /** For an `expect` entry, which sets nothing. */
  readonly expected: Expected | undefined;
  readonly name: string;
  /** One object for all changes that the rule causes. */
  readonly cause: NodeCause;
  readonly minMatches: number | undefined;
  readonly owner: Manifest;
}

interface Compiled {
  /** Undefined if the match names no level. */
  readonly rule: CompiledRule | undefined;
  readonly problems: readonly Problem[];
}

/** The attributes of each level that `where` can compare. A column has the syncMode of its table. */
const attributes: readonly (readonly (keyof WhereClause)[])[] = [
  ["enabled"],
  ["enabled", "syncMode"],
  ["enabled", "hashed", "isPrimaryKey", "syncMode"],
];
const assertable: readonly (readonly (keyof Expected)[])[] = [
  ["nameInDestination"],
  ["nameInDestination", "syncMode", "cursorField"],
  ["nameInDestination", "isPrimaryKey"],
];
export const expectedKeys = everyName<keyof Expected>({ nameInDestination: true, syncMode: true, cursorField: true, isPrimaryKey: true });

export function compileRule(written: PlacedRule): Compiled {
  const { rule, owner, pointer } = written;
  const { rule: compiled, problems } = compileMatch(rule.match, written);
  const ignores = rule.ignore === true;
  const message = "The rule has both ignore and set, which contradict each other. Write two rules; the later one wins.";
  const both = ignores && rule.set !== undefined ? [problemIn(owner, pointer, { code: "E_WRONG_VALUE", message })] : [];
  return {
    problems: [...both, ...problems],
    rule: compiled && {
      ...compiled,
      ignores,
      set: ignores ? undefined : rule.set,
      minMatches: rule.minMatches,
      cause: { rule: written.name, ...defined({ reason: rule.reason }), place: compiled.cause.place },
    },
  };
}

export function compileExpectation(
  { match: written, ...expected }: SchemaExpectation,
  owner: Manifest<SchemaConfigSpec>,
  index: number,
): Compiled {
  const pointer = `/spec/expect/${index}`;
  const { rule, problems } = compileMatch(written, { name: `expect ${index + 1}`, owner, pointer });
  if (rule === undefined) return { rule, problems };
  const wrongLevel = expectedKeys
    .filter((key) => expected[key] !== undefined && !assertable[rule.depth]?.includes(key))
    .map((key) =>
      problemIn(owner, `${pointer}/${key}`, {
        code: "E_MATCH_LEVEL",
        message: `A ${levelNames[rule.depth]} has no ${key}. An expect entry applies to the deepest level that its match names.`,
      }),
    );
  return { problems: [...problems, ...wrongLevel], rule: { ...rule, expected } };
}

/** A rule that does nothing with what it matches. */
function compileMatch(match: SchemaMatch, { name, owner, pointer }: Pick<PlacedRule, "name" | "owner" | "pointer">): Compiled {
  const { ignoreCase, where } = match;
  const labels = wantedLabels(match.label);
  const { depth: named, parts } = nodePatterns(
    [match.schema, match.table, match.column].map((name) => (name === undefined || name.length === 0 ? undefined : { name, ignoreCase })),
  );
  const depth = labels === undefined ? named : 2;
  if (depth === undefined) {
    const message = 'The match names no schema, table, column or label. For every table, write table: "*".';
    return { rule: undefined, problems: [problemIn(owner, `${pointer}/match`, { code: "E_MATCH_LEVEL", message })] };
  }
  // `where` comes from JSON that the schema has checked: its keys are those of its type.
  const problems = (Object.keys(where ?? {}) as (keyof WhereClause)[])
    .filter((key) => !attributes[depth]?.includes(key))
    .map((key) =>
      problemIn(owner, `${pointer}/match/where/${key}`, {
        code: "E_MATCH_LEVEL",
        message: `A ${levelNames[depth]} has no ${key}, so the rule could never match. A rule applies to the deepest level that its match names.`,
      }),
    );
  const cause = { rule: name, place: locationIn(owner, pointer) };
  const effect = { ignores: false, set: undefined, expected: undefined, minMatches: undefined };
  return { rule: { type: "rule", depth, parts, match, labels, where, ...effect, name, cause, owner }, problems };
}

/**
 * Whether the live node has these attributes. An attribute that the service did not return is
 * unknown and does not match.
 */
export function holds(where: WhereClause, node: LiveNode, syncMode: string | undefined): boolean {
  return (
    (where.enabled === undefined || where.enabled === node.enabled) &&
    (where.hashed === undefined || where.hashed === node.hashed) &&
    (where.isPrimaryKey === undefined || where.isPrimaryKey === node.isPrimaryKey) &&
    (where.syncMode === undefined || isSameMode(where.syncMode, syncMode))
  );
}

/** Where a pattern of the rule is written: "/spec/rules/2/match/table/1". */
export function patternPlace(rule: CompiledRule, depth: Depth, position: number | undefined): SourceLocation {
  const pointer = `${rule.cause.place.pointer}/match/${levelNames[depth]}${position === undefined ? "" : `/${position}`}`;
  return { ...rule.cause.place, pointer };
}
