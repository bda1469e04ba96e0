import { visible } from "../../base/text/control-characters.ts";
import type { ListOptions } from "../../base/text/lists.ts";
import { moreOf } from "../../base/text/lists.ts";
import type { Tone } from "../blocks.ts";

const markup: unique symbol = Symbol("markup");

/** Markup of a page. Only the tag `html` makes it, so no text can get into a page unescaped. */
export interface Html {
  readonly [markup]: string;
}

/** What a template takes: text, which it escapes; markup; lists of both. `undefined` and `false` print nothing. */
export type HtmlContent = Html | string | number | boolean | undefined | readonly HtmlContent[];

/**
 * Markup with values in it. A value after ` name=` is an attribute: the tag quotes it. `undefined` and `false` leave the
 * attribute out, `true` prints its name alone.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  let text = "";
  for (const [index, value] of values.entries()) {
    const part = parts[index] ?? "";
    const [attribute] = / [\w-]+=$/u.exec(part) ?? [];
    if (attribute === undefined) text += part + markupOf(value);
    else if (value === undefined || value === false) text += part.slice(0, -attribute.length);
    else if (value === true) text += part.slice(0, -1);
    else text += `${part}"${markupOf(value)}"`;
  }
  return { [markup]: text + (parts[values.length] ?? "") };
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Characters of texts that a reader cannot see are escapes. */
const escaped = (text: string): string => visible(text).replace(/[&<>"']/gu, (character) => entities[character] ?? character);

/** The text of a page. */
export function markupOf(content: HtmlContent): string {
  if (content === undefined || typeof content === "boolean") return "";
  if (typeof content === "string") return escaped(content);
  if (typeof content === "number") return String(content);
  return markup in content ? content[markup] : content.map(markupOf).join("");
}

/** Whether it prints nothing. */
export function isEmpty(content: HtmlContent): boolean {
  if (content === undefined || typeof content === "boolean") return true;
  if (typeof content === "string") return content === "";
  if (typeof content === "number") return false;
  return markup in content ? content[markup] === "" : content.every(isEmpty);
}

/** The contents that are not empty, with `between` between them. */
export const joined = (contents: readonly HtmlContent[], between: HtmlContent): Html =>
  html`${contents.filter((content) => !isEmpty(content)).map((content, index) => [index > 0 && between, content])}`;

const lineBreak = html`\n`;

/** The same, one per line. */
export const blocks = (...contents: readonly HtmlContent[]): Html => joined(contents.flat(), lineBreak);

/** "a, b, c and 4 more columns", as the function for texts. */
export function andMore(entries: readonly HtmlContent[], one: string, { shown = 3, total = entries.length }: ListOptions = {}): Html {
  const first = entries.slice(0, shown);
  return html`${joined(first, ", ")}${total > first.length && ` ${moreOf(total - first.length, one)}`}`;
}

/** What `draw` makes; empty if `text` is empty, so that no function below makes an element without content. */
const unlessEmpty = (text: HtmlContent, draw: () => Html): Html => (isEmpty(text) ? html`` : draw());

export const code = (text: string): Html => unlessEmpty(text, () => html`<code>${text}</code>`);

/** A name that breaks after dots and underscores first. */
export const breakable = (name: string): HtmlContent =>
  name.split(/(?<=[._])(?=[^._])/u).map((part, index) => [index > 0 && html`<wbr>`, part]);

export const quiet = (text: HtmlContent): Html => unlessEmpty(text, () => html`<span class="quiet">${text}</span>`);

/** For what is less important than what it stands beside. */
export const aside = (text: HtmlContent): Html => unlessEmpty(text, () => html`<span class="quiet small">${text}</span>`);

export const paragraph = (text: HtmlContent): Html => unlessEmpty(text, () => html`<p>${text}</p>`);

/** Lines of a file. */
export const source = (lines: readonly string[]): Html =>
  unlessEmpty(lines, () => html`<pre>${lines.map((line, index) => [index > 0 && lineBreak, line])}</pre>`);

/** A command that can be copied. */
export const command = (text: string): Html => source([text]);

export const chip = (text: string, tone: Tone): Html => unlessEmpty(text, () => html`<span class="chip ${tone}">${text}</span>`);

/** A box for what a reader must not miss. */
export const note = (tone: Tone, content: HtmlContent): Html =>
  unlessEmpty(content, () => html`<div class="note ${tone}">${content}</div>`);

/** A table. On a narrow screen each row is a block, and cells show their head. */
export const table = (caption: string, heads: readonly string[], rows: readonly (readonly HtmlContent[])[], style?: string): Html =>
  html`<table class=${style}><caption>${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${blocks(
  rows.map(
    ([first, ...cells]) =>
      html`<tr><th scope="row">${first}</th>${cells.map((cell, index) => html`<td data-head="${heads[index + 1]}">${cell}</td>`)}</tr>`,
  ),
)}
</tbody></table>`;

export const list = (entries: readonly HtmlContent[], style?: string): Html =>
  unlessEmpty(entries, () => html`<ul class=${style}>\n${blocks(entries.map((entry) => html`<li>${entry}</li>`))}\n</ul>`);

/** Folded content. `id`: if the page refreshes itself, it stays open or closed. */
export const folded = (summary: HtmlContent, content: HtmlContent, id?: string): Html =>
  unlessEmpty(content, () => html`<details id=${id}><summary>${summary}</summary>\n${content}</details>`);
