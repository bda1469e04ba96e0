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
