import type { TableColumns } from "../../base/model/columns.ts";
import { own } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { locationIn } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type NodePath, nodePointer } from "../../base/model/nodes.ts";
import { type Problem, type ProblemText, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { type Depth, levelNames, literalPointer, type TablePath, walk } from "../../base/model/schema-tree.ts";
import { counted } from "../../base/text/counts.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isAscii } from "../patterns/glob.ts";
import type { NamePattern } from "../patterns/names.ts";
import { type CompiledConfig, type Config, type Layer, missingOf, type RuleProgram, uniqueProblems } from "./compiled-config.ts";
import type { Evaluation } from "./evaluation.ts";
import { formsIn, ownForm } from "./literal-trees.ts";
import { type CompiledRule, patternPlace } from "./rules/compile-rule.ts";
import type { UnitTally } from "./rules/rule-stats.ts";

// Literal names, in trees and matches, that do not exist. A name in a match is missing if no node that the other patterns
// of the match allow has it. A missing schema or table is reported once, not again for the names below. With
// `missing: nowhere`, a name must exist in at least one of the integrations that the SchemaConfig selects, which is known
// only when all of them are compared. With one integration, that is the same as `missing: error`.

interface MissingName {
  readonly config: Config;
  readonly depth: Depth;
  readonly name: string;
  readonly where: string;
  readonly hint: string;
  readonly place: SourceLocation;
}

const nameInTree = (config: Config, path: NodePath): MissingName => ({
  config,
  depth: (path.length - 1) as Depth,
  name: path.at(-1) ?? "",
  where: path.length === 1 ? "" : ` in ${nodeText(path.slice(0, -1))}`,
  hint: "",
  place: locationIn(config, literalPointer(path), "key"),
});

/** A pattern of a rule, and its level. */
export interface LevelPattern {
  readonly rule: CompiledRule;
  readonly depth: Depth;
  readonly pattern: NamePattern;
}

const nameInRule = (config: Config, { rule, depth, pattern: { literal = "", position } }: LevelPattern): MissingName => ({
  config,
  depth,
  name: literal,
  where: depth === 0 ? "" : ` in the ${levelNames[depth - 1]}s that the rule matches`,
  hint: " If the rule may match nothing, set minMatches: 0.",
  place: patternPlace(rule, depth, position),
});

const nameText = ({ depth, name, where }: MissingName): string => `${levelNames[depth]} ${JSON.stringify(name)}${where}.`;
const remedy = ({ config, hint, depth, name }: MissingName, first = "Correct the name"): string =>
  `${depth > 0 && name.includes(".") ? `A pattern matches within one name: write ${depth === 1 ? "schema and table" : "table and column"} apart. ` : ""}${first}, or set spec.missing to ${config.spec.missing === "warn" ? "" : "warn or "}ignore.${hint}`;

/** A name that exists is missing if `!pattern` excludes it. */
const lack = (name: MissingName, known: readonly string[]): string =>
  known.includes(name.name)
    ? `has the ${levelNames[name.depth]} ${JSON.stringify(name.name)}, but another pattern of the match excludes it. ${remedy(name, "Remove one of the two")}`
    : `has no ${nameText(name)}${didYouMean(name.name, known)} ${remedy(name)}`;

/** By SchemaConfig with `missing: nowhere`: the literal entries that the integration lacks. Those below a missing one are left out. */
export type Lacking = ReadonlyMap<CompiledConfig, ReadonlyMap<Pointer, NodePath>>;

interface Missing {
  readonly problems: readonly Problem[];
  /** How many of them are errors. A new integration is given time to discover these names; names that `missing` allows may never exist. */
  readonly required: number;
  readonly lacking: Lacking;
}

/** Names that look the same on every screen. */
function severalForms(name: MissingName, integration: string, forms: readonly string[]): Problem {
  const written = enumerate(
    forms.map((form) => `"${form.replace(/[^ -~]/gu, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`)}"`),
    "and",
  );
  const message = `${integration} has ${forms.length} ${levelNames[name.depth]}s${name.where} that are the same name in different Unicode forms: ${written}. The entry applies to each that has no entry of its own. Write an entry for each.`;
  return problemAt(name.place, { code: "W_HIDDEN_CHARACTER", severity: "warning", message });
}

/** How many names are compared for a suggestion. */
const maxCandidates = 5_000;

/** What one integration lacks. */
export function missingNames(
  program: RuleProgram,
  live: LiveSchemas,
  {
    stats,
    hasMissingColumns,
    name: integration,
    targets,
    gone,
  }: Pick<Evaluation, "stats" | "hasMissingColumns"> & Pick<UnitTally, "name" | "targets"> & { readonly gone: readonly TableColumns[] },
): Missing {
  const isNowhere = ({ config, compiled }: Layer): boolean => missingOf(config) === "nowhere" && targets.get(compiled) !== 1;
  const lacking = new Map<CompiledConfig, Map<Pointer, NodePath>>();
  const problems: Problem[] = [];
  let required = 0;
  const add = ({ config, place }: MissingName, message: string): void => {
    const text: ProblemText =
      config.spec.missing === "warn" ? { code: "W_MISSING_NAME", severity: "warning", message } : { code: "E_MISSING_NAME", message };
    problems.push(problemAt(place, text));
  };
  const byTable = new Map<string, { readonly table: string; readonly names: MissingName[] }>();
  const report = (name: MissingName, known: () => readonly string[], table?: string): void => {
    const { missing } = name.config.spec;
    if (missing === "ignore") return;
    if (missing !== "warn") required++;
    if (table === undefined) add(name, `${integration} ${lack(name, known())}`);
    else getOrAdd(byTable, `${name.config.address} ${table}`, () => ({ table, names: [] })).names.push(name);
  };
  for (const [id, one] of program.patterns.entries()) {
    const { rule, depth, pattern } = one;
    const layer = program.layers[rule.layer];
    if (pattern.literal === undefined || stats.hits[id] === 1 || rule.minMatches === 0) continue;
    if (layer === undefined || isNowhere(layer)) continue;
    if ((stats.levels[rule.index] ?? 0) <= depth || (depth === 2 && stats.unknownColumns[rule.index] === 1)) continue;
    report(nameInRule(layer.config, one), () => namesFor(rule, depth, live), goneTable(one, gone));
  }
  for (const layer of program.layers) {
    const { config, compiled } = layer;
    const found = new Map<Pointer, NodePath>();
    if (isNowhere(layer)) lacking.set(compiled, found);
    const written = config.spec.schemas ?? {};
    const check = (path: NodePath, siblings: object | undefined, entries: object = {}): boolean => {
      const name = path.at(-1) ?? "";
      if (siblings === undefined) return true;
      const forms = isAscii(name) ? [] : formsIn(siblings, name);
      if (forms.length > 1 && formsIn(entries, name).length < forms.length)
        problems.push(severalForms(nameInTree(config, path), integration, forms));
      if (forms.length > 0 || Object.hasOwn(siblings, name)) return true;
      if (isNowhere(layer)) found.set(nodePointer(path), path);
      else report(nameInTree(config, path), () => Object.keys(siblings).sort().slice(0, maxCandidates));
      return false;
    };
    const tableIn = <T>(tree: Readonly<Record<string, { readonly tables?: Readonly<Record<string, T>> }>>, [schema, table]: TablePath) =>
      ownForm(ownForm(tree, schema)?.tables ?? {}, table);
    walk(written, {
      schema: (_, path) => check(path, live, written),
      table: (_, path) => check(path, ownForm(live, path[0])?.tables ?? {}, own(written, path[0])?.tables) && hasMissingColumns,
      // The columns of a table can be unknown.
      column: (_, [schema, table, column]) =>
        void check([schema, table, column], tableIn(live, [schema, table])?.columns, tableIn(written, [schema, table])?.columns),
    });
  }
  for (const { table, names } of byTable.values()) {
    const [first] = names;
    const columns = andMore(
      names.map(({ name }) => JSON.stringify(name)),
      "column",
    );
    const remove = names.length === 1 ? "Remove the name" : "Remove the names";
    if (first !== undefined)
      add(first, `In ${integration}, ${table}, so no table has what rules name: ${columns}. ${remedy(first, remove)}`);
  }
  return { problems, required, lacking };
}

const matchesAt = ({ parts }: CompiledRule, depth: Depth, name: string): boolean => parts[depth]?.matches(name) ?? true;

/** "the table app.parcels is gone (22 columns)", if the rule matched the column of this name there. */
function goneTable({ rule, depth, pattern }: LevelPattern, gone: readonly TableColumns[]): string | undefined {
  const { literal } = pattern;
  if (depth !== 2 || literal === undefined) return undefined;
  const found = gone.find(
    ({ isTableGone, schema, table, columns }) =>
      isTableGone === true && columns.includes(literal) && matchesAt(rule, 0, schema) && matchesAt(rule, 1, table),
  );
  return found && `the table ${nodeText([found.schema, found.table])} is gone (${counted(found.columns.length, "column")})`;
}

/** The live names that the rule compares at this depth, sorted. */
function namesFor(rule: CompiledRule, depth: Depth, live: LiveSchemas): readonly string[] {
  const names = new Set<string>();
  const visit = (_: object, path: NodePath): boolean => {
    const [at, name] = [(path.length - 1) as Depth, path.at(-1) ?? ""];
    if (at === depth && names.size < maxCandidates) names.add(name);
    return at < depth && matchesAt(rule, at, name);
  };
  walk(live, { schema: visit, table: visit, column: visit });
  return [...names].sort();
}

/** The names that none of these integrations has, which are all that the SchemaConfig selects. `inRules`: literal patterns that match no name. */
export function nowhereNames(
  compiled: CompiledConfig,
  tallies: readonly UnitTally[],
  inRules: readonly LevelPattern[],
): readonly Problem[] {
  const { config } = compiled;
  const lacking = tallies.flatMap((tally) => tally.lacking?.get(compiled) ?? []);
  if (lacking.length === 0) return [];
  const lacksPartOf = (path: NodePath, paths: ReadonlyMap<Pointer, NodePath>): boolean =>
    path.some((_, depth) => paths.has(nodePointer(path.slice(0, depth + 1) as unknown as NodePath)));
  const inTree = [...new Map(lacking.flatMap((paths) => [...paths])).values()].filter((path) =>
    lacking.every((paths) => lacksPartOf(path, paths)),
  );
  const names = [...inTree.map((path) => nameInTree(config, path)), ...inRules.map((one) => nameInRule(config, one))];
  // A RuleSet that is used twice has each of its patterns twice.
  return uniqueProblems(
    names.map((name) => {
      const message = `None of the ${lacking.length} integrations that ${config.address} selects has a ${nameText(name)} ${remedy(name)}`;
      return problemAt(name.place, { code: "E_MISSING_NAME", message, address: config.address });
    }),
  );
}
