import { byText } from "../../model/address.ts";
import type { Place, Problem } from "../../model/problem.ts";
import { placeIn } from "../../model/resource.ts";
import { speakerText } from "./findings.ts";
import { literalPointer, type NodePath, nodeText } from "./node.ts";
import type { UnitTally, Warning } from "./tally.ts";

/** How many examples a warning names. */
const shown = 3;

interface Gathered {
  readonly warning: Warning;
  readonly place: Place;
  readonly examples: string[];
  count: number;
  integrations: number;
}

/** Warnings of all integrations, each rule and each literal once, with a few examples and the number of all. */
export function concludeWarnings(tallies: readonly UnitTally[]): readonly Problem[] {
  const byPlace = new Map<string, Gathered>();
  for (const { label, warnings } of [...tallies].sort((a, b) => byText(a.label, b.label)))
    for (const warning of warnings.values()) {
      const place = placeOf(warning);
      const key = JSON.stringify([warning.code, place.file, place.document, place.pointer]);
      const known = byPlace.get(key) ?? { warning, place, examples: [], count: 0, integrations: 0 };
      byPlace.set(key, known);
      known.count += warning.nodes.count;
      known.integrations++;
      for (const path of warning.nodes.first) if (known.examples.length < shown) known.examples.push(`${nodeText(path)} of ${label}`);
    }
  return [...byPlace.values()].map(toProblem);
}

function toProblem({ warning, place, examples, count, integrations }: Gathered): Problem {
  const { by, code } = warning;
  const rest = count - examples.length;
  const where = `${examples.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}${integrations === 1 ? "" : `, in ${integrations} integrations in all`}`;
  const owner = by.type === "rule" ? by.owner : by.config;
  const core = { code, severity: "warning", place, address: owner.address } as const;
  if (code === "W_HASHES_PRIMARY_KEY")
    return {
      ...core,
      summary: "Hashes a primary key",
      message: `${speakerText(by)} hashes primary key columns: ${where}. Rows are told apart by the hash then, and joins on the clear value find nothing. Leave them out with where: { isPrimaryKey: false } if that is not meant.`,
    };
  return {
    ...core,
    summary: "Column rules in a disabled table",
    message: `${speakerText(by)} speaks of columns of tables that end up disabled: ${where}. Nothing of such a table is replicated, so it matters only when the table is enabled.`,
  };
}

function placeOf({ by, code, nodes }: Warning): Place {
  const [path] = nodes.first;
  if (by.type !== "literal" || path === undefined) return by.type === "literal" ? by.config.place : by.cause.place;
  return code === "W_HASHES_PRIMARY_KEY" ? literalPlace(by.config, path, "hashed") : literalPlace(by.config, path, "columns");
}

const literalPlace = (config: Parameters<typeof placeIn>[0], path: NodePath, key: string): Place =>
  placeIn(config, literalPointer(path, key));
