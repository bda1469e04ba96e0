// No run ends well while what was kept once is readable (P).
import { test } from "vitest";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import type { Store } from "./life.ts";
import { holds, known } from "./matrix.ts";

test.each<[store: Store & string, lives: number]>([
  ["folder", runs(12, 5_000)],
  ["git", runs(1, 100)],
])(
  "no run ends well while what was kept once is readable, with records in: %s",
  async (store, numRuns) => {
    await fc.assert(
      holds(async () => store),
      { numRuns, examples: [...known] },
    );
  },
  3_600_000,
);
