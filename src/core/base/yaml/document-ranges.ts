/** From the first character of a document to the end of its last one. */
export type DocumentRange = readonly [start: number, end: number];

/**
 * Where each document of a YAML text is: with the directives, comments and the `---` line above it, and the `...` line below it. A line that
 * begins with a marker ends a document whatever the context, so a search finds it.
 */
export function documentRanges(text: string): readonly DocumentRange[] {
  const ranges: DocumentRange[] = [];
  let start = 0;
  let isOpen = false;
  for (const at of markersIn(text)) {
    // A `---` after nothing but directives and comments begins the document and separates nothing.
    const hasContent = isOpen || hasContentIn(text.slice(start, at));
    if (text[at] === ".") {
      if (!hasContent) continue;
      const end = text.indexOf("\n", at);
      ranges.push([start, end === -1 ? text.length : end + 1]);
      start = end === -1 ? text.length : end + 1;
      isOpen = false;
      continue;
    }
    if (hasContent) {
      ranges.push([start, at]);
      start = at;
    }
    isOpen = true;
  }
  if (isOpen || start === 0 || hasContentIn(text.slice(start))) ranges.push([start, text.length]);
  return ranges;
}

function markersIn(text: string): readonly number[] {
  const found = ["---", "..."].flatMap((marker) => {
    const offsets = text.startsWith(marker) ? [0] : [];
    for (let at = text.indexOf(`\n${marker}`); at >= 0; at = text.indexOf(`\n${marker}`, at + 1)) offsets.push(at + 1);
    return offsets;
  });
  return found.filter((at) => /^[ \t\r\n]?$/u.test(text.charAt(at + "---".length))).sort((a, b) => a - b);
}

/** Whether there is more than comments, directives and empty lines. */
const hasContentIn = (text: string): boolean => /(?:^|\n)(?!%)[ \t]*[^ \t\r\n#]/u.test(text);
