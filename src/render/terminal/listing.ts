import type { RenderOptions } from "../document.ts";
import { cell, listLines, screenOf } from "./layout.ts";

/**
 * Rows of texts without control characters, below their headings. What has no room beside the
 * others is below, so that no line is wider than the screen.
 */
export function listingText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  options: Pick<RenderOptions, "color" | "width">,
): string {
  const { paint, width } = screenOf({ ...options, verbose: false });
  const heads = headings.map((text) => cell(text.toUpperCase(), paint.bold));
  const lines = listLines([heads, ...rows.map((texts) => texts.map((text) => cell(text)))], width);
  return `${lines.join("\n")}\n`;
}
