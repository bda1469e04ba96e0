import { type AccountDifference, compareAccounts } from "../../snapshot/compare.ts";
import { type Comparison, comparisonOf } from "../../snapshot/comparison.ts";
import { openReads, type ReadSource } from "../open-reads.ts";
import type { RunEnvironment } from "../session.ts";

/** One side of a comparison; `name` is how the result refers to it. */
export interface ComparedSide {
  readonly name: string;
  readonly source: ReadSource;
}

/** Compares two accounts or snapshots. Sends GET only. Throws DimsyncError. */
export async function compareSides(from: ComparedSide, to: ComparedSide, run: RunEnvironment): Promise<Comparison> {
  const a = await openReads(from.source, run);
  try {
    const b = await openReads(to.source, run);
    try {
      const differences: AccountDifference[] = [];
      for await (const difference of compareAccounts(a.reads, b.reads)) differences.push(difference);
      return comparisonOf(from.name, to.name, differences);
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}
