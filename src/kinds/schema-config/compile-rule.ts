import type { Problem, SourceLocation } from "../../model/problem.ts";
import {
  type ColumnTree,
  locationIn,
  type Resource,
  type SchemaConfigSpec,
  type SchemaExpectation,
  type SchemaMatch,
} from "../../model/resource.ts";
import { type NamePatterns, namePatterns } from "../patterns/names.ts";
import type { PlacedRule } from "./rule-sets.ts";
import { type Depth, type LiveNode, levelNames, type NodeCause } from "./tree.ts";

export type Where = NonNullable<SchemaMatch["where"]>;
export type Expected = Omit<SchemaExpectation, "match">;

/** A rule or an `expect` entry of a configuration, ready to be asked of names. */
export interface CompiledRule {
  readonly type: "rule";
  /** The deepest level that the match names: the rule speaks of nodes there, and of nothing above or below. */
  readonly depth: Depth;
  /** By depth; undefined means any name. */
  readonly parts: readonly (NamePatterns | undefined)[];
  readonly where: Where | undefined;
  readonly ignores: boolean;
  readonly set: ColumnTree | undefined;
  /** Of an `expect` entry, which sets nothing. */
  readonly expected: Expected | undefined;
  readonly name: string;
  /** One object for all changes that the rule causes. */
  readonly cause: NodeCause;
  readonly minMatches: number | undefined;
  readonly owner: Resource;
}

interface Compiled {
  readonly rule: CompiledRule | undefined;
  readonly problems: readonly Problem[];
}

/** Attributes that nodes of each depth have, for `where`. A column's syncMode is its table's. */
const attributes: readonly (readonly (keyof Where)[])[] = [
  ["enabled"],
  ["enabled", "syncMode"],
  ["enabled", "hashed", "isPrimaryKey", "syncMode"],
];
const assertable: readonly (readonly (keyof Expected)[])[] = [
  ["nameInDestination"],
  ["nameInDestination", "syncMode", "cursorField"],
  ["nameInDestination", "isPrimaryKey"],
];

export function compileRule({ rule, name, owner, pointer }: PlacedRule): Compiled {
  const problems: Problem[] = [];
  const core = compileMatch(rule.match, owner, pointer, problems);
  if (rule.ignore === true && rule.set !== undefined)
    problems.push(
      problem(
        owner,
        pointer,
        "E_IGNORE_AND_SET",
        "A rule ignores and sets",
        "The rule ignores its nodes and sets them, which contradict each other. Write two rules: the later one counts.",
      ),
    );
  if (core === undefined) return { rule: undefined, problems };
  const place = locationIn(owner, pointer);
  return {
    problems,
    rule: {
      ...core,
      ignores: rule.ignore === true,
      set: rule.ignore === true ? undefined : rule.set,
      expected: undefined,
      name,
      cause: { rule: name, ...(rule.reason === undefined ? {} : { reason: rule.reason }), place },
      minMatches: rule.minMatches,
      owner,
    },
  };
}

export function compileExpectation({ match, ...expected }: SchemaExpectation, owner: Resource<SchemaConfigSpec>, index: number): Compiled {
  const problems: Problem[] = [];
  const pointer = `/spec/expect/${index}`;
  const core = compileMatch(match, owner, pointer, problems);
  if (core === undefined) return { rule: undefined, problems };
  const given = (["nameInDestination", "syncMode", "cursorField", "isPrimaryKey"] as const).filter((key) => expected[key] !== undefined);
  for (const key of given)
    if (!assertable[core.depth]?.includes(key))
      problems.push(
        problem(
          owner,
          `${pointer}/${key}`,
          "E_EXPECT_LEVEL",
          "Nothing to assert there",
          `A ${levelNames[core.depth]} has no ${key}. The deepest level that the match names is the one that is meant.`,
        ),
      );
  const name = `expect ${index + 1}`;
  return {
    problems,
    rule: {
      ...core,
      ignores: false,
      set: undefined,
      expected,
      name,
      cause: { rule: name, place: locationIn(owner, pointer) },
      minMatches: undefined,
      owner,
    },
  };
}

function compileMatch(
  match: SchemaMatch,
  owner: Resource,
  pointer: string,
  problems: Problem[],
): Pick<CompiledRule, "type" | "depth" | "parts" | "where"> | undefined {
  const written = [match.schema, match.table, match.column].map((part) => (part?.length === 0 ? undefined : part));
  const depth = written.findLastIndex((part) => part !== undefined) as -1 | Depth;
  if (depth === -1) {
    problems.push(
      problem(
        owner,
        `${pointer}/match`,
        "E_EMPTY_MATCH",
        "A match names nothing",
        'The match names no schema, table or column, so it says nothing of what is meant. For every table write table: "*".',
      ),
    );
    return undefined;
  }
  for (const key of Object.keys(match.where ?? {}) as (keyof Where)[])
    if (!attributes[depth]?.includes(key))
      problems.push(
        problem(
          owner,
          `${pointer}/match/where/${key}`,
          "E_WHERE_LEVEL",
          "Nothing to narrow by",
          `A ${levelNames[depth]} has no ${key}, so no node could ever match. The deepest level that the match names is the one that is meant.`,
        ),
      );
  const options = { ignoreCase: match.ignoreCase === true };
  return {
    type: "rule",
    depth,
    parts: written.map((part) => (part === undefined ? undefined : namePatterns(part, options))),
    where: match.where,
  };
}

const problem = (owner: Resource, pointer: string, code: string, summary: string, message: string): Problem => ({
  code,
  severity: "error",
  summary,
  message,
  place: locationIn(owner, pointer),
  address: owner.address,
});

/** Whether the live node has the attributes. One that the service did not tell equals nothing: it is unknown. */
export function holds(where: Where, node: LiveNode, syncMode: string | undefined): boolean {
  return (
    (where.enabled === undefined || where.enabled === node.enabled) &&
    (where.hashed === undefined || where.hashed === node.hashed) &&
    (where.isPrimaryKey === undefined || where.isPrimaryKey === node.isPrimaryKey) &&
    (where.syncMode === undefined || where.syncMode === syncMode)
  );
}

/** Where a pattern of the rule is written: "/spec/rules/2/match/table/1". */
export function patternPlace(rule: CompiledRule, depth: Depth, position: number | undefined): SourceLocation {
  const pointer = `${rule.cause.place.pointer}/match/${levelNames[depth]}${position === undefined ? "" : `/${position}`}`;
  return { ...rule.cause.place, pointer };
}
