import { expect, test } from "vitest";
import type { RenderOptions } from "../../../../src/core/render/document.ts";
import { widthOf } from "../../../../src/core/render/terminal/layout.ts";

/** The widths at which every layout is checked. */
export const widths = [60, 80, 120] as const;

/** The words of a text, in order: what must be the same at every width. */
export const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== "");

/**
 * A layout shows every word of the widest one at each width, and no line is wider than the screen.
 * Words themselves are never broken, so those of the sample must be short.
 */
export function testWidths(draw: (options: RenderOptions) => string): void {
  test.each(widths)("%s columns show every word, within the screen", (width) => {
    const text = draw({ color: false, verbose: true, width });
    expect([...wordsOf(text)].sort()).toEqual([...wordsOf(draw({ color: false, verbose: true, width: 400 }))].sort());
    expect(text.split("\n").filter((line) => widthOf(line) > width)).toEqual([]);
    expect(text).not.toMatch(/[ \t]$/mu);
    expect(text.endsWith("\n")).toBe(true);
  });
}
