import { visible, visibleLines } from "../../text/control-characters.ts";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for an element's content or a quoted attribute. What a reader couldn't see is written out, so that no two names look the same. */
export function escaped(text: string): string {
  return visible(text).replace(/[&<>"']/gu, (character) => entities[character] ?? character);
}

/** A message; its line breaks stay. */
export function prose(text: string): string {
  return visibleLines(text).map(escaped).join("<br>");
}

export const code = (text: string): string => `<code>${escaped(text)}</code>`;

/** A word that stands out, with a colour that is never the only sign. */
export type Tone = "bad" | "good" | "warn" | "info" | "quiet";

export const chip = (text: string, tone: Tone): string => (text === "" ? "" : `<span class="chip ${tone}">${escaped(text)}</span>`);

/** The parts that are there, with a line between. */
export const blocks = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");
