import { own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { type NodePath, nodePointer } from "../../model/nodes.ts";
import type { Difference } from "../../model/plan.ts";
import type { Problem, SourceLocation } from "../../model/problem.ts";
import { locationIn } from "../../model/resource.ts";
import { type Depth, levelNames, literalPointer, walk } from "../../model/schema-tree.ts";
import { nodeText } from "../../text/paths.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Config, Layer, ProgramRule, RuleProgram, ValueSource } from "./compiled-config.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Refused, Unmet } from "./evaluation.ts";
import { isNowhere } from "./nowhere.ts";
import { patternPlace } from "./rules/compile-rule.ts";
import { sampleText, type UnitTally } from "./rules/rule-stats.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** What sets a value, as the subject of a sentence. */
export function sourceText(by: ValueSource): string {
  if (by.type === "literal") return "The literal tree";
  return by.type === "rule" ? `Rule ${JSON.stringify(by.name)}` : `${by.cause.rule}: ${by.mode}`;
}

/**
 * Errors that prevent requests for an integration, each at its line, with a few of the nodes and
 * their number.
 */
export function refusals(
  { unmatched }: RuleProgram,
  { refused, uncovered }: Pick<Evaluation, "refused" | "uncovered">,
  integration: string,
): readonly Problem[] {
  const ofUncovered = uncovered.flatMap((nodes, depth): readonly Problem[] => {
    const by = unmatched[depth];
    if (nodes.count === 0 || by === undefined) return [];
    const level = levelNames[depth];
    const [which, them] =
      nodes.count === 1
        ? [`the ${level} ${sampleText(nodes)} of ${integration}`, "it"]
        : [`${nodes.count} ${level}s of ${integration}: ${sampleText(nodes)}`, "them"];
    return [
      {
        code: "E_UNMATCHED",
        severity: "error",
        message: `No rule or literal entry covers ${which}. Add a rule that sets or ignores ${them}, or change ${by.cause.rule}.`,
        place: by.cause.place,
      },
    ];
  });
  return [...[...refused.values()].map((one) => disabledKey(one, integration)), ...ofUncovered];
}

function disabledKey({ role, by, cause, columns }: Refused, integration: string): Problem {
  const names = sampleText(columns);
  const [which, them, tables] =
    columns.count > 1
      ? [`${columns.count} ${role} columns of ${integration}: ${names}`, "them", "their tables"]
      : [`the ${role} column ${names} of ${integration}`, "it", "the table"];
  return {
    code: role === "cursor" ? "E_DISABLES_CURSOR" : "E_DISABLES_PRIMARY_KEY",
    severity: "error",
    message: `${sourceText(by)} disables ${which}. Without ${them}, the service cannot replicate ${tables}. Hash ${them} instead, disable ${tables}, or leave ${them} enabled.`,
    place: cause.place,
  };
}

type Named = Pick<SchemaConfigUnit, "address" | "name" | "manifests">;

/** `expect` entries that do not hold: no request changes these values, so they are fixed by hand. */
export function manualSteps({ address, name: integration, manifests }: Named, unmet: readonly Unmet[]): Difference["manual"] {
  return unmet.map(({ path, key, expected, actual }) => {
    const node = `${levelNames[path.length - 1]} ${nodeText(path)} of ${integration}`;
    const advice =
      key === "isPrimaryKey"
        ? `Change the primary key in the source and have the service discover the schema again: ${node}`
        : `No request changes ${key}. Set it in the service's user interface: ${node}`;
    const values = `expected ${JSON.stringify(expected)}, ${actual === undefined ? "but it is not set" : `actual ${JSON.stringify(actual)}`}`;
    return {
      address,
      path: nodePointer(path, key),
      manifests,
      expected,
      ...(actual === undefined ? {} : { actual }),
      instruction: `${advice} (${values}). Or correct spec.expect.`,
    };
  });
}

/** How many names are compared for a suggestion. */
const maxCandidates = 5_000;

export interface Missing {
  readonly problems: readonly Problem[];
  /** How many of them are errors. A new integration is given time to discover these names; names that `missing` allows may never exist. */
  readonly required: number;
}

type MissingInput = Pick<Evaluation, "stats" | "hasMissingColumns"> & Pick<UnitTally, "name" | "targets">;

/**
 * Literal names, in trees and matches, that this integration does not have. A name in a match is missing if no node that
 * the other patterns of the match allow has it. A missing schema or table is reported once, not again for the names below.
 */
export function missingNames(
  program: RuleProgram,
  live: LiveSchemas,
  { stats, hasMissingColumns, name: integration, targets }: MissingInput,
): Missing {
  const inRules = program.patterns.flatMap(({ rule, depth, pattern }, id): readonly MissingName[] => {
    const layer = program.layers[rule.layer];
    if (pattern.literal === undefined || stats.hits[id] === 1 || rule.minMatches === 0) return [];
    if (layer === undefined || isNowhere(layer, targets)) return [];
    const { config } = layer;
    if ((stats.levels[rule.index] ?? 0) <= depth || (depth === 2 && stats.unknownColumns[rule.index] === 1)) return [];
    const known = namesFor(rule, depth, live);
    const where = depth === 0 ? "" : ` in the ${levelNames[depth - 1]}s that the rule matches`;
    const hint = " If the rule may match nothing, set minMatches: 0.";
    return [{ config, depth, name: pattern.literal, known, where, hint, place: patternPlace(rule, depth, pattern.position) }];
  });
  const inTrees = program.layers.flatMap((layer) => (isNowhere(layer, targets) ? [] : missingInTree(layer, live, hasMissingColumns)));
  const reported = [...inRules, ...inTrees].filter(({ config }) => config.spec.missing !== "ignore");
  return {
    problems: reported.map((name) => missingProblem(name, integration)),
    required: reported.filter(({ config }) => config.spec.missing !== "warn").length,
  };
}

interface MissingName {
  readonly config: Config;
  readonly depth: Depth;
  readonly name: string;
  /** Live names, for a suggestion. */
  readonly known: readonly string[];
  readonly where: string;
  readonly hint: string;
  readonly place: SourceLocation;
}

function missingProblem({ config, depth, name, known, where, hint, place }: MissingName, integration: string): Problem {
  const isWarning = config.spec.missing === "warn";
  return {
    code: isWarning ? "W_MISSING_NAME" : "E_MISSING_NAME",
    severity: isWarning ? "warning" : "error",
    message: `${integration} has no ${levelNames[depth]} ${JSON.stringify(name)}${where}.${didYouMean(name, known)} Correct the name, or set spec.missing to warn or ignore.${hint}`,
    place,
  };
}

function missingInTree({ config }: Layer, live: LiveSchemas, withColumns: boolean): readonly MissingName[] {
  const found: MissingName[] = [];
  const check = (path: NodePath, siblings: object): boolean => {
    const name = path.at(-1) ?? "";
    if (Object.hasOwn(siblings, name)) return true;
    const known = Object.keys(siblings).sort().slice(0, maxCandidates);
    const where = path.length === 1 ? "" : ` in ${nodeText(path.slice(0, -1))}`;
    const depth = (path.length - 1) as Depth;
    found.push({ config, depth, name, known, where, hint: "", place: locationIn(config, literalPointer(path), "key") });
    return false;
  };
  const columnsOf = (schema: string, table: string) => own(own(live, schema)?.tables, table)?.columns;
  walk(config.spec.schemas ?? {}, {
    schema: (_, path) => check(path, live),
    table: (_, path) => check(path, own(live, path[0])?.tables ?? {}) && withColumns,
    column(_, path) {
      const columns = columnsOf(path[0], path[1]);
      if (columns !== undefined) check(path, columns);
    },
  });
  return found;
}

/** The live names that the rule compares at this depth, sorted. */
function namesFor(rule: ProgramRule, depth: Depth, live: LiveSchemas): readonly string[] {
  const names = new Set<string>();
  const matches = (at: Depth, name: string): boolean => rule.parts[at]?.matches(name) ?? true;
  const add = (at: Depth, name: string): void => {
    if (at === depth && names.size < maxCandidates) names.add(name);
  };
  walk(live, {
    schema(_, [schema]) {
      add(0, schema);
      return depth > 0 && matches(0, schema);
    },
    table(_, [, table]) {
      add(1, table);
      return depth > 1 && matches(1, table);
    },
    column: (_, [, , column]) => add(2, column),
  });
  return [...names].sort();
}
