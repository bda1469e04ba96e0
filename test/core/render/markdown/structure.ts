/**
 * Errors of a Markdown text as GitHub renders it: [] if every fence, table, tag and mention is
 * correct.
 */
export function faults(text: string): readonly string[] {
  const found: string[] = [];
  let fence: string | undefined;
  let pipes: number | undefined;
  let details = 0;
  for (const line of text.split("\n")) {
    const marker = /^ *(`{3,})/u.exec(line)?.[1];
    if (fence !== undefined) {
      if (marker !== undefined && line.trim() === marker && marker.length >= fence.length) fence = undefined;
      continue;
    }
    if (marker !== undefined) {
      fence = marker;
      continue;
    }
    const bare = line.replace(/`[^`]*`/gu, "");
    if (bare.includes("`")) found.push(`code span without an end: ${line}`);
    for (const tag of bare.match(/<[^>]*>?/gu) ?? []) {
      if (!/^<\/?(?:details|summary|code|br)>$/u.test(tag)) found.push(`tag ${tag} in: ${line}`);
    }
    details += (bare.match(/<details>/gu) ?? []).length - (bare.match(/<\/details>/gu) ?? []).length;
    if (/[@\\~]|\]\(|!\[|(?<!&|^#*)#(?!#* )/u.test(bare)) found.push(`markup in: ${line}`);
    const count = line.startsWith("|") ? (line.match(/(?<!\\)\|/gu) ?? []).length : undefined;
    if (count === undefined && bare.includes("|")) found.push(`pipe outside a table: ${line}`);
    if (count !== undefined && pipes !== undefined && count !== pipes) found.push(`row with other cells: ${line}`);
    pipes = count;
  }
  if (fence !== undefined) found.push("a fence is not closed");
  if (details !== 0) found.push(`${details} <details> without an end`);
  return found;
}
