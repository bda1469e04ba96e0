import { own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Place, Problem } from "../../model/problem.ts";
import { placeIn } from "../../model/resource.ts";
import { didYouMean } from "../../model/suggest.ts";
import type { Evaluation } from "./evaluate.ts";
import { type Depth, levelNames, literalPointer, type NodePath, nodeText } from "./node.ts";
import type { Config, Layer, Program, Rule } from "./program.ts";
import { patternPlace } from "./rule.ts";

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
  const report = (config: Config, place: Place, message: (remedy: string) => string, depth: Depth): void => {
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
      report(layer.config, placeIn(layer.config, literalPointer(path), "key"), message, depth);
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
