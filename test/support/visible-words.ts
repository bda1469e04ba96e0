/** The words that a reader of rendered Markdown sees: with a letter or a digit, without those that are folded. */
export function visibleWords(markdown: string): number {
  const shown = markdown
    .replaceAll(/<!--[\s\S]*?-->/gu, "")
    .replaceAll(/<details><summary>([\s\S]*?)<\/summary>[\s\S]*?<\/details>/gu, "$1")
    .replaceAll(/\]\([^)]*\)/gu, "]")
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/&#\d+;/gu, "");
  return wordsIn(shown);
}

export const wordsIn = (text: string): number => text.split(/[\s|]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
