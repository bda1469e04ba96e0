import picocolors from "picocolors";
import type { RenderOptions } from "../document.ts";

/** What human output is drawn on. */
export interface Screen {
  readonly paint: ReturnType<typeof picocolors.createColors>;
  readonly width: number;
  readonly verbose: boolean;
}

export function screenOf({ color, width = 100, verbose }: RenderOptions): Screen {
  return { paint: picocolors.createColors(color), width: Math.max(width, 40), verbose };
}
