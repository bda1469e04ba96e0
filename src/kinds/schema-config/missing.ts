import { own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Pointer } from "../../model/pointer.ts";
import type { Problem, SourceLocation } from "../../model/problem.ts";
import { locationIn } from "../../model/resource.ts";
import { didYouMean, nearest } from "../../text/suggest.ts";
import { patternPlace } from "./compile-rule.ts";
import type { Config, Layer, Program, Rule } from "./compiled-config.ts";
import type { Evaluation } from "./evaluate.ts";
import { type Depth, levelNames, literalPointer, type NodePath, nodePointer, nodeText } from "./tree.ts";

/** Names are compared with that many at most when something similar is looked for. */
const maxCandidates = 5_000;

export interface Missing {
  readonly problems: readonly Problem[];
  /** How many of them are errors: of a new integration, the ones worth waiting for. Where `missing` allows them, they may never come. */
  readonly required: number;
}

/**
 * Literal names, of trees and of matches, that this integration does not have (product §2.4.5). A name in a match is missing only if no place that
 * the rest of the match can mean has it; what is missing above is told once, not again for what would be below it. `label` is what people call it.
 */
export function missingNames(
  program: Program,
  live: LiveSchemas,
  { tally, isIncomplete }: Pick<Evaluation, "tally" | "isIncomplete">,
  label: string,
): Missing {
  const problems: Problem[] = [];
  let required = 0;
  const report = (config: Config, place: SourceLocation, message: (remedy: string) => string, depth: Depth): void => {
    const { missing } = config.spec;
    if (missing === "ignore") return;
    if (missing !== "warn") required++;
    problems.push({
      code: missing === "warn" ? "W_MISSING_NAME" : "E_MISSING_NAME",
      severity: missing === "warn" ? "warning" : "error",
      summary: `Unknown ${levelNames[depth]}`,
      message: message("Correct the name, or set spec.missing to warn or ignore."),
      place,
    });
  };
  for (const [id, { rule, depth, pattern }] of program.patterns.entries()) {
    if (pattern.literal === undefined || tally.hits[id] === 1 || rule.minMatches === 0) continue;
    if ((tally.reached[rule.index] ?? 0) <= depth || (depth === 2 && tally.blind[rule.index] === 1)) continue;
    const name = pattern.literal;
    const config = program.layers[rule.layer]?.config;
    if (config === undefined) continue;
    report(
      config,
      patternPlace(rule, depth, pattern.position),
      (remedy) =>
        `${label} has no ${levelNames[depth]} ${JSON.stringify(name)}${depth === 0 ? "" : " where the rule looks for it"}.${didYouMean(name, namesFor(rule, depth, live))} ${remedy} In a rule that may match nothing, set minMatches: 0.`,
      depth,
    );
  }
  for (const layer of program.layers)
    missingInTree(layer, live, isIncomplete, (path, known) => {
      const name = path.at(-1) ?? "";
      const depth = (path.length - 1) as Depth;
      const where = depth === 0 ? "" : ` in ${nodeText(path.slice(0, -1) as unknown as NodePath)}`;
      const message = (remedy: string): string =>
        `${label} has no ${levelNames[depth]} ${JSON.stringify(name)}${where}.${didYouMean(name, Object.keys(known).sort().slice(0, maxCandidates))} ${remedy}`;
      report(layer.config, locationIn(layer.config, literalPointer(path), "key"), message, depth);
    });
  return { problems, required };
}

function missingInTree({ config }: Layer, live: LiveSchemas, withColumns: boolean, report: (path: NodePath, known: object) => void): void {
  const { schemas = {} } = config.spec;
  for (const schema of Object.keys(schemas)) {
    const liveSchema = own(live, schema);
    if (liveSchema === undefined) {
      report([schema], live);
      continue;
    }
    const tables = own(schemas, schema)?.tables ?? {};
    for (const table of Object.keys(tables)) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) report([schema, table], liveSchema.tables);
      if (liveTable?.columns === undefined || !withColumns) continue;
      const known = liveTable.columns;
      for (const column of Object.keys(own(tables, table)?.columns ?? {}))
        if (!Object.hasOwn(known, column)) report([schema, table, column], known);
    }
  }
}

/** The names among which the rule looks, in their order. */
function namesFor(rule: Rule, depth: Depth, live: LiveSchemas): readonly string[] {
  const names = new Set<string>();
  const matches = (at: Depth, name: string): boolean => rule.parts[at]?.matches(name) ?? true;
  const add = (map: object): void => {
    for (const name of Object.keys(map)) if (names.size < maxCandidates) names.add(name);
  };
  if (depth === 0) add(live);
  else
    for (const [schema, { tables }] of Object.entries(live)) {
      if (!matches(0, schema)) continue;
      if (depth === 1) add(tables);
      else for (const [table, { columns = {} }] of Object.entries(tables)) if (matches(1, table)) add(columns);
    }
  return [...names].sort();
}

/** Why a live node can't be shown; undefined where it can: it isn't there (with what may have been meant), or its columns are unknown. */
export function absenceOf(live: LiveSchemas, [schema, table, column]: NodePath): string | undefined {
  const liveSchema = own(live, schema);
  if (liveSchema === undefined) return notThere([schema], Object.keys(live));
  if (table === undefined) return undefined;
  const liveTable = own(liveSchema.tables, table);
  if (liveTable === undefined) return notThere([schema, table], Object.keys(liveSchema.tables));
  if (column === undefined) return undefined;
  if (liveTable.columns === undefined) return `unknown: the service does not tell the columns of ${nodeText([schema, table])}`;
  return Object.hasOwn(liveTable.columns, column) ? undefined : notThere([schema, table, column], Object.keys(liveTable.columns));
}

function notThere(path: NodePath, known: readonly string[]): string {
  const found = nearest(path.at(-1) ?? "", [...known].sort());
  const meant = found === undefined ? "" : ` Did you mean ${nodeText([...path.slice(0, -1), found] as unknown as NodePath)}?`;
  return `not in the account: there is no ${levelNames[path.length - 1]} ${nodeText(path)}.${meant}`;
}

/** The node above that keeps this one from being replicated once the changes are made: pointer of a leaf to its new value; undefined where none does. */
export function stoppedBy(
  live: LiveSchemas,
  [schema, table, column]: NodePath,
  after: ReadonlyMap<Pointer, unknown>,
): NodePath | undefined {
  const above: readonly NodePath[] = table === undefined ? [] : column === undefined ? [[schema]] : [[schema], [schema, table]];
  return above.find((node) => {
    const liveSchema = own(live, node[0]);
    const entry = node[1] === undefined ? liveSchema : own(liveSchema?.tables, node[1]);
    return entry !== undefined && (after.get(nodePointer(node, "enabled")) ?? entry.enabled) === false;
  });
}
