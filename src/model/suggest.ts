import { distance } from "fastest-levenshtein";

/** The nearest of the candidates, where it is near enough to be what was meant (a third of the letters may differ). */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(text.length / 3));
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = candidate.toLowerCase() === text.toLowerCase() ? 0.5 : distance(text, candidate);
    if (edits <= limit && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate;
}

/** " Did you mean X?" or nothing. */
export function didYouMean(text: string, candidates: Iterable<string>): string {
  const found = nearest(text, candidates);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}
