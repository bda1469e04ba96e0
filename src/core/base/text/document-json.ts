import { printableJson } from "./control-characters.ts";

// What is longer in one line is printed in one line: nobody reads it, and white space would be three quarters of it.
const longestIndented = 10_000;

/**
 * A plan, report or result as JSON, which is also the format of a saved plan: indented by two spaces, control characters
 * escaped. In pieces, one for each element of a list, because a document of a fleet can be longer than a string of V8 can be
 * (512 MB); an item with fewer than nine million changes is not.
 */
export function* documentJson(document: object): Generator<string> {
  let before = "{\n";
  for (const [key, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}  ${JSON.stringify(key)}: `;
    before = ",\n";
    if (Array.isArray(value) && value.length > 0) yield* listPieces(value);
    else yield printed(value, "  ");
  }
  yield "\n}";
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  for (const [index, element] of list.entries()) yield `${index === 0 ? "[" : ","}\n    ${printed(element, "    ")}`;
  yield "\n  ]";
}

function printed(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (line.length > longestIndented) return printableJson(line);
  return printableJson(JSON.stringify(value, undefined, 2)).replaceAll("\n", `\n${indent}`);
}
