import { own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { type NodePath, nodePointer } from "../../model/nodes.ts";
import type { Problem, SourceLocation } from "../../model/problem.ts";
import { locationIn } from "../../model/resource.ts";
import { type Depth, levelNames, literalPointer, walk } from "../../model/schema-tree.ts";
import { nodeText } from "../../text/paths.ts";
import type { CompiledConfig, Layer, RuleProgram } from "./compiled-config.ts";
import { patternPlace } from "./rules/compile-rule.ts";
import type { UnitTally } from "./rules/rule-stats.ts";

// With `missing: nowhere`, a literal name must exist in at least one of the integrations that a SchemaConfig selects. That
// is known only when all of them are compared. With one integration, it is the same as `missing: error` (problems.ts).

/** Whether missing names of the layer are reported for all integrations together. */
export const isNowhere = ({ config, compiled }: Layer, targets: UnitTally["targets"]): boolean =>
  config.spec.missing === "nowhere" && targets.get(compiled) !== 1;

/** By SchemaConfig: pointers of the literal entries that this integration lacks. Those below a missing one are left out. */
export type Lacking = ReadonlyMap<CompiledConfig, ReadonlySet<string>>;

export function lackingEntries({ layers }: RuleProgram, live: LiveSchemas, targets: UnitTally["targets"]): Lacking {
  return new Map(
    layers
      .filter((layer) => isNowhere(layer, targets))
      .map(({ compiled, config }) => {
        const lacking = new Set<string>();
        const check = (path: NodePath, siblings: object | undefined): boolean => {
          const exists = siblings === undefined || Object.hasOwn(siblings, path.at(-1) ?? "");
          if (!exists) lacking.add(nodePointer(path));
          return exists;
        };
        walk(config.spec.schemas ?? {}, {
          schema: (_, path) => check(path, live),
          table: (_, path) => check(path, own(live, path[0])?.tables ?? {}),
          // The columns of a table can be unknown.
          column: (_, path) => check(path, own(own(live, path[0])?.tables, path[1])?.columns),
        });
        return [compiled, lacking];
      }),
  );
}

/** The names that no selected integration has. A missing schema or table is reported once, not again for the names below. */
export function nowhereNames(tallies: readonly UnitTally[], isComplete: (config: CompiledConfig) => boolean): readonly Problem[] {
  const [first] = tallies;
  const configs = [...(first?.targets.keys() ?? [])].filter(
    (compiled) => compiled.config.spec.missing === "nowhere" && isComplete(compiled),
  );
  return configs.flatMap((compiled) => {
    const units = tallies.filter(({ lacking }) => lacking?.has(compiled));
    return units.length === 0 ? [] : [...inTree(compiled, units), ...inRules(compiled, units)];
  });
}

function inTree(compiled: CompiledConfig, units: readonly UnitTally[]): readonly Problem[] {
  const { config } = compiled;
  const found: Problem[] = [];
  const check = (path: NodePath): boolean => {
    const pointers = chainOf(path).map((one) => nodePointer(one));
    const isLacked = ({ lacking }: UnitTally): boolean => pointers.some((pointer) => lacking?.get(compiled)?.has(pointer) === true);
    if (!units.every(isLacked)) return true;
    const where = path.length === 1 ? "" : ` in ${nodeText(path.slice(0, -1))}`;
    found.push(
      nowhereProblem(compiled, units.length, {
        ...{ depth: (path.length - 1) as Depth, name: path.at(-1) ?? "", where, hint: "" },
        place: locationIn(config, literalPointer(path), "key"),
      }),
    );
    return false;
  };
  walk(config.spec.schemas ?? {}, {
    schema: (_, path) => check(path),
    table: (_, path) => check(path),
    column: (_, path) => {
      check(path);
    },
  });
  return found;
}

/** The schema, its table and the column of a path, as far as it has them. */
const chainOf = ([schema, table, column]: NodePath): readonly NodePath[] => {
  const tables: readonly NodePath[] = table === undefined ? [] : [[schema, table]];
  return [[schema], ...tables, ...(table === undefined || column === undefined ? [] : [[schema, table, column] as const])];
};

/** Whether a literal pattern was compared with names, and whether it matched one or may match an unknown one. */
interface PatternUse {
  readonly problem: () => Problem;
  compared: boolean;
  found: boolean;
}

function inRules(compiled: CompiledConfig, units: readonly UnitTally[]): readonly Problem[] {
  const uses = new Map<string, PatternUse>();
  for (const { program, hits, levels, unknownColumns } of units)
    for (const [id, { rule, depth, pattern }] of program.patterns.entries()) {
      const name = pattern.literal;
      if (name === undefined || rule.minMatches === 0 || program.layers[rule.layer]?.compiled !== compiled) continue;
      const place = patternPlace(rule, depth, pattern.position);
      const key = `${place.file} ${place.document} ${place.pointer}`;
      const where = depth === 0 ? "" : ` in the ${levelNames[depth - 1]}s that the rule matches`;
      const hint = " If the rule may match nothing, set minMatches: 0.";
      const use = uses.get(key) ?? {
        problem: () => nowhereProblem(compiled, units.length, { depth, name, where, hint, place }),
        compared: false,
        found: false,
      };
      uses.set(key, use);
      use.compared ||= (levels[rule.index] ?? 0) > depth;
      use.found ||= hits[id] === 1 || (depth === 2 && unknownColumns[rule.index] === 1);
    }
  return [...uses.values()].filter(({ compared, found }) => compared && !found).map(({ problem }) => problem());
}

interface NowhereName {
  readonly depth: Depth;
  readonly name: string;
  readonly where: string;
  readonly hint: string;
  readonly place: SourceLocation;
}

function nowhereProblem({ config }: CompiledConfig, integrations: number, { depth, name, where, hint, place }: NowhereName): Problem {
  return {
    code: "E_MISSING_NAME",
    severity: "error",
    message: `None of the ${integrations} integrations that ${config.address} selects has a ${levelNames[depth]} ${JSON.stringify(name)}${where}. Correct the name, or set spec.missing to warn or ignore.${hint}`,
    place,
    address: config.address,
  };
}
