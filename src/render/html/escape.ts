import { visible } from "../../text/control-characters.ts";
import type { Tone } from "../blocks.ts";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for the content of an element or a quoted attribute. Invisible characters are written as escapes. */
export function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/gu, (character) => entities[character] ?? character);
}

export const code = (text: string): string => `<code>${escaped(text)}</code>`;

/** A command that can be copied; "" if there is none. */
export const command = (text: string | undefined): string => (text === undefined ? "" : `<pre>${escaped(text)}</pre>`);

export const chip = (text: string, tone: Tone): string => (text === "" ? "" : `<span class="chip ${tone}">${escaped(text)}</span>`);

/** The nonempty parts, one per line. */
export const blocks = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");

/** A table; the cells are HTML. On a narrow screen each row is a block, and cells show their head. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[], style = ""): string {
  const body = rows.map(([first = "", ...cells]) => {
    const rest = cells.map((cell, index) => `<td data-head="${escaped(heads[index + 1] ?? "")}">${cell}</td>`);
    return `<tr><th scope="row">${first}</th>${rest.join("")}</tr>`;
  });
  return `<table${style === "" ? "" : ` class="${style}"`}><caption>${escaped(caption)}</caption>
<thead><tr>${heads.map((head) => `<th scope="col">${escaped(head)}</th>`).join("")}</tr></thead>
<tbody>
${body.join("\n")}
</tbody></table>`;
}

/** A list; the entries are HTML. "" if it is empty. */
export const list = (entries: readonly string[], style = ""): string =>
  entries.length === 0
    ? ""
    : `<ul${style === "" ? "" : ` class="${style}"`}>\n${entries.map((entry) => `<li>${entry}</li>`).join("\n")}\n</ul>`;

/** Folded content; "" if it is empty. The summary is HTML. `id`: if the page refreshes itself, it stays open or closed. */
export const folded = (summary: string, content: string, id = ""): string =>
  content === "" ? "" : `<details${id === "" ? "" : ` id="${id}"`}><summary>${summary}</summary>\n${content}</details>`;
