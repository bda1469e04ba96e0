import { distance } from "fastest-levenshtein";

/** The most similar candidate: one that differs only in case, white space or Unicode form, else one in which at most a third of the letters differ. */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(text.length / 3));
  const folded = fold(text);
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = editsOf(text, candidate, folded);
    if (edits <= limit && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate;
}

function editsOf(text: string, candidate: string, folded: string): number {
  if (candidate.normalize() === text.normalize()) return 0.25;
  if (fold(candidate) === folded) return 0.5;
  return isSwapped(text, candidate) ? 0.75 : distance(text, candidate);
}

/** Without case, Unicode forms, characters that cannot be seen, and white space at the ends. */
export const fold = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/gu, " ")
    .trim()
    .toUpperCase() // "ß" has no lower case that "SS" has, too
    .toLowerCase();

/**
 * Whether two adjacent letters are swapped, the most common typo: one mistake, although two letters
 * differ.
 */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((_, index) => a[index] !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** " Did you mean X?" or nothing. If X looks like the text, it is written as it can be pasted, and the difference is explained. */
export function didYouMean(text: string, candidates: Iterable<string>): string {
  const found = nearest(text, candidates);
  return found === undefined ? "" : suggestion(text, found);
}

/** " Did you mean X?" `more`: what follows X, for example its id. */
export function suggestion(text: string, found: string, more = ""): string {
  const difference = invisibleDifference(text, found);
  if (difference === undefined) return ` Did you mean ${found}${more}?`;
  return ` Did you mean ${escapedText(found)}${more}? That name ${difference}; paste it with the quotes.`;
}

/** How two names differ that look the same; undefined if the difference can be seen. */
function invisibleDifference(text: string, found: string): string | undefined {
  if (text === found) return undefined;
  if (text.normalize() === found.normalize()) return "has the same letters in another Unicode form";
  const shown = (one: string): string => one.normalize("NFKC").replace(/[\p{Cf}\s]+/gu, "");
  return shown(text) === shown(found) ? "differs in white space or invisible characters" : undefined;
}

/** The text in double quotes, as YAML reads it, with escapes for everything that is not printable ASCII: "pre\u0301nom". */
const escapedText = (text: string): string =>
  `"${[...text].map((character) => (/^[ -~]$/u.test(character) ? character.replace(/["\\]/u, "\\$&") : escapedCharacter(character))).join("")}"`;

function escapedCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}
