import { plainWords } from "./plain-words.ts";

/** The secrets of a request, and the texts of its other members. */
export interface SentSecrets {
  readonly values: readonly string[];
  readonly others: readonly string[];
}

export const mask = "▒▒▒";

/** A shorter word is shown even if a secret contains it. */
const shortestTelling = 4;

/**
 * The parts of a response, joined, with a mask for each word that could come from a secret. A word is shown if it is in the fixed list
 * of plain words, or in another member of the request, and in no secret. Undefined if the text repeats a secret.
 */
export function maskedWords([first = "", ...rest]: readonly string[], { values, others }: SentSecrets): string | undefined {
  const secrets = values.map(folded).filter((secret) => secret !== "");
  const sent = new Set(others.flatMap((text) => wordsOf(text).map(folded)));
  const text = [first, ...rest].join(": ");
  const letters = lettersOf(text);
  if (values.map(lettersOf).some((secret) => secret.length >= shortestTelling && letters.includes(secret))) return undefined;
  const isShown = (word: string): boolean => {
    const plain = folded(word);
    if (plain.length >= shortestTelling && secrets.some((secret) => secret.includes(plain))) return false;
    if (plainWords.has(plain) || (sent.has(plain) && !secrets.some((secret) => secret.includes(plain)))) return true;
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u);
    return parts.length > 1 && parts.every(isShown);
  };
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part, index) => (index % 2 === 1 ? (isShown(part) ? part : mask) : part.replace(/[^\s.,:;'"()_/-]+/gu, mask)))
    .join("")
    .replaceAll(/▒▒▒(?:[._/-]*▒▒▒)+/gu, mask);
}

const wordsOf = (text: string): readonly string[] =>
  text.split(/[^\p{L}\p{N}]+/u).flatMap((word) => [word, ...word.split(/(?<=\p{Ll})(?=\p{Lu})/u)]);

const folded = (text: string): string => text.normalize("NFKC").toLowerCase();

const lettersOf = (text: string): string => folded(text).replace(/[^\p{L}\p{N}]+/gu, "");
