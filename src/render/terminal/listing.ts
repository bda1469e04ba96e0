import type { RenderOptions } from "../document.ts";
import { cell, headedLines, screenOf } from "./layout.ts";

/**
 * Rows of texts without control characters, below their headings. What has no room beside the
 * others is below its row, after its heading, so that no line is wider than the screen.
 */
export function listingText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  options: Pick<RenderOptions, "color" | "width">,
): string {
  const { paint, width } = screenOf({ ...options, verbose: false });
  const heads = headings.map((text) => cell(text.toUpperCase(), paint.bold));
  const cells = rows.map((texts) => texts.map((text) => cell(text)));
  const lines = headedLines(heads, cells, "", width);
  return `${lines.join("\n")}\n`;
}
