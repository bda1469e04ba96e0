/** Offsets (UTF-16) at which the lines of a text begin. */
export function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(lineStarts: readonly number[], offset: number): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = lineStarts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return { line: low, column: offset - (lineStarts[low - 1] ?? 0) + 1 };
}

/** A text that a manifest may have on several lines, as one paragraph. */
export const paragraph = (text: string): string => text.trim().replaceAll(/\s*\n\s*/gu, " ");

/** The line break of the first line. */
export const eolOf = (text: string): string => (text[text.indexOf("\n") - 1] === "\r" ? "\r\n" : "\n");
