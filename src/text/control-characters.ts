// Controls, bidi and other format characters, lone surrogates, line separators, spaces that look like the common one or like nothing.
const unseen = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

const short: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/**
 * The text with every character that a terminal obeys or a reader can't see written as an escape ("\u001b"), so that names from the account or
 * from a manifest neither move the cursor nor pass for other names. The escapes are those of JSON: inside a JSON string the value stays the same.
 */
export function visible(text: string): string {
  return text.replace(unseen, (character) => short.get(character) ?? unitEscapes(character));
}

/** As `visible`, for messages, whose line breaks are meant. */
export function visibleLines(text: string): readonly string[] {
  return text.split(/\r?\n/u).map(visible);
}

function unitEscapes(character: string): string {
  let escapes = "";
  for (let unit = 0; unit < character.length; unit += 1) escapes += `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  return escapes;
}
