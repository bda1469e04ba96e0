// Controls, bidi and other format characters, lone surrogates, line separators, and spaces that are
// invisible or look like U+0020.
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

const printableAscii = /^[ -~]*$/u;

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

/** Like `visible`, but keeps line breaks, for messages. */
export function visibleLines(text: string): readonly string[] {
  return text.split(/\r?\n/u).map(visible);
}

function unitEscapes(character: string): string {
  let escapes = "";
  for (let unit = 0; unit < character.length; unit += 1) escapes += `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  return escapes;
}
