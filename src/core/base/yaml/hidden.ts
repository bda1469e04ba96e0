import type { DocumentRange } from "./document-ranges.ts";

// What a reviewer sees is not what a program reads: characters without a sign of their own, and line breaks of which programs disagree.

/** Something in a text that looks like something else. */
interface Hidden {
  readonly offset: number;
  /** A sentence. */
  readonly message: string;
}

const lineBreaks = /\r(?!\n)|[\u0085\u2028\u2029]/gu;

/**
 * The line breaks that YAML 1.1 and YAML 1.2 read differently: a lone CR, and NEL, LS and PS outside quotes. `quotedRanges`: of the scalars in
 * quotes, in their order; only asked for if there are such line breaks.
 */
export function disputedLineBreaks(text: string, quotedRanges: () => readonly DocumentRange[]): readonly Hidden[] {
  const offsets = Array.from(text.matchAll(lineBreaks), ({ index }) => index);
  if (offsets.length === 0) return [];
  const quoted = quotedRanges();
  let range = 0;
  const disputed = offsets.filter((offset) => {
    while ((quoted[range]?.[1] ?? offset) < offset) range += 1;
    return text[offset] === "\r" || (quoted[range]?.[0] ?? text.length) > offset;
  });
  return disputed.map((offset) => {
    const name = codePoint(text, offset);
    return {
      offset,
      message: `${name} ends a line for some YAML readers and is part of it for others, so they read different values. Remove it, or write it as an escape in double quotes.`,
    };
  });
}

// Not those that join the parts of one emoji.
const invisible =
  /(?<!\p{Extended_Pictographic}\ufe0f?)(?![\t\n\r\u0085\u2028\u2029])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const words = /[\p{L}\p{M}]+/gu;
const latin = /\p{Script=Latin}/u;
const alike = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u;
const mostShown = 20;

/** The first characters that nobody sees, and the first words that mix Latin letters with letters that look like them. */
export function hiddenCharacters(text: string): readonly Hidden[] {
  if (!/[^\t\n\r -~]/u.test(text)) return [];
  const found: Hidden[] = [];
  for (const { index } of text.matchAll(invisible)) {
    if (found.length >= mostShown) break;
    found.push({
      offset: index,
      message: `Here is the invisible character ${codePoint(text, index)}: what is read differs from what reviewers see. Remove it, or write it as an escape in double quotes.`,
    });
  }
  for (const { index, 0: word } of text.matchAll(words)) {
    if (found.length >= mostShown) break;
    const other = latin.test(word) ? alike.exec(word)?.index : undefined;
    if (other === undefined) continue;
    found.push({
      offset: index + other,
      message: `A word mixes Latin letters with ${codePoint(text, index + other)}, which looks like one. Names with it look like other names, and patterns with it match nothing. Type the word again.`,
    });
  }
  return found.sort((a, b) => a.offset - b.offset);
}

const codePoint = (text: string, offset: number): string =>
  `U+${(text.codePointAt(offset) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
