import { byText } from "../model/address.ts";
import { inlineYaml, stringYaml } from "../yaml/print.ts";
import type { Catalog } from "./file.ts";
import type { ColumnGroup } from "./groups.ts";

const header = `# The columns that someone has reviewed, written by dimsync; commit it.
# Integrations with the same columns share a group, with one line for each table. Comments are not kept.
# \`dimsync plan\` lists columns that are not in this file. Review and accept them: dimsync catalog accept
apiVersion: dimsync/v1
kind: Catalog
`;

/** A longer list of integrations gets one line for each, so that a new shard is one line of a diff. */
const mostInline = 4;

/** The text of the catalog file, in pieces: sorted by name on every level. */
export function* catalogPieces(catalog: Catalog): Generator<string> {
  yield header;
  if (catalog.size === 0) {
    yield "targets: {}\n";
    return;
  }
  yield "targets:\n";
  for (const [target, groups] of sorted(catalog)) {
    yield `  ${stringYaml(target)}:${groups.length === 0 ? " []" : ""}\n`;
    for (const group of groups) yield* groupPieces(group);
  }
}

function* groupPieces({ integrations, tables }: ColumnGroup): Generator<string> {
  yield integrations.length > mostInline
    ? `    - integrations:\n${integrations.map((name) => `        - ${stringYaml(name)}\n`).join("")}`
    : `    - integrations: ${inlineYaml(integrations)}\n`;
  yield "      schemas:\n";
  for (const [schema, ofSchema] of sorted(tables)) {
    yield `        ${stringYaml(schema)}:\n`;
    for (const [table, columns] of sorted(ofSchema)) yield `          ${stringYaml(table)}: ${inlineYaml([...columns].sort(byText))}\n`;
  }
}

const sorted = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] => [...map].sort(([a], [b]) => byText(a, b));
