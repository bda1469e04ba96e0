// Controls, bidi and other format characters, lone surrogates, line separators, and spaces that are
// invisible or look like U+0020.
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

// The same, except line feeds.
const unseenInJson = /(?![ \n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;
const printableAscii = /^[ -~]*$/u;
const printableAsciiLines = /^[\n -~]*$/u;

const short: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/**
 * Escapes characters that a terminal interprets or a reader can't see ("\u001b"), so that names
 * from the account or a manifest can't move the cursor or look like other names. The escapes are
 * those of JSON: inside a JSON string the value stays the same.
 */
export function visible(text: string): string {
  // The search for every Unicode property takes ten times as long, and most names are ASCII.
  return printableAscii.test(text) ? text : text.replace(unseen, (character) => short.get(character) ?? unitEscapes(character));
}

/**
 * JSON text that is safe to print: the same value, with control, bidi and similar characters as escapes. Also
 * escapes the `##[` with which GitHub Actions begins commands anywhere in a line.
 */
export function printableJson(json: string): string {
  // Strings have no line breaks of their own, so those of the text are its layout.
  const shown = printableAsciiLines.test(json) ? json : json.replace(unseenInJson, unitEscapes);
  return shown.includes("##[") ? shown.replaceAll("##[", "#\\u0023[") : shown;
}

/** A value as a JSON document: indented, with a line break at its end. */
export const jsonDocument = (value: unknown, indent = 2): string => `${printableJson(JSON.stringify(value, undefined, indent))}\n`;

function unitEscapes(character: string): string {
  let escapes = "";
  for (let unit = 0; unit < character.length; unit += 1) escapes += `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  return escapes;
}

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
