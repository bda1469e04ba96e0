import { distance } from "fastest-levenshtein";

/** The most similar candidate, if at most a third of the letters differ. */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(text.length / 3));
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = candidate.toLowerCase() === text.toLowerCase() ? 0.5 : isSwapped(text, candidate) ? 0.75 : distance(text, candidate);
    if (edits <= limit && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate;
}

/**
 * Whether two adjacent letters are swapped, the most common typo: one mistake, although two letters
 * differ.
 */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((_, index) => a[index] !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** " Did you mean X?" or nothing. */
export function didYouMean(text: string, candidates: Iterable<string>): string {
  const found = nearest(text, candidates);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}
