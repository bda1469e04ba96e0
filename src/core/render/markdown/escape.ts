import { visible } from "../../base/text/control-characters.ts";

// Names come from databases and manifests: they can contain pipes, backticks, HTML, @mentions,
// #references and links, which must not take effect.
const plainCode = /^[^`|\\<>&\s][^`|\\<>&]*(?<! )$/u;
const punctuation = /[^\p{L}\p{M}\p{N} ,.;:()'"?!%/=→…×≠·+-]/gu;

/**
 * A name or value as code: in backticks if that is safe, otherwise as HTML, which can contain any
 * character, even in a table. "" without text.
 */
export function code(text: string): string {
  const shown = visible(text);
  if (shown === "") return "";
  return plainCode.test(shown) ? `\`${shown}\`` : htmlCode(text);
}

/** The same within an HTML block such as `<summary>`, where backticks have no meaning. */
export function htmlCode(text: string): string {
  return `<code>${visible(text).replace(/[^\p{L}\p{M}\p{N} ,.:/-]/gu, entity)}</code>`;
}

/** A message as running text: no markup, no mention, no reference, no link. */
export function prose(text: string): string {
  const escaped = visible(text)
    .trim()
    .replace(punctuation, (character) => (/[@#]/u.test(character) ? `${entity(character)}&#8203;` : entity(character)))
    .replaceAll("://", "&#58;//")
    .replace(/www\./giu, (found) => `${found.slice(0, 3)}&#46;`);
  // A list marker or a heading's underline at the beginning of a line.
  return escaped.replace(/^[-+=:]/u, entity).replace(/^(\d+)([.)])/u, (_, digits: string, mark: string) => digits + entity(mark));
}

/** Lines as a block of code; the fence is longer than any run of backticks in them. */
export function fenced(lines: readonly string[], language: string): string {
  const shown = lines.map(visible);
  const longest = shown.flatMap((line) => line.match(/`+/gu) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return [fence + language, ...shown, fence].join("\n");
}

/** A folded part; `summary` is HTML. */
export function details(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** A table; the cells are Markdown without line breaks. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function entity(character: string): string {
  return `&#${character.codePointAt(0) ?? 0};`;
}
