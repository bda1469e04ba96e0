import type { Exit } from "../../model/exit.ts";
import { type AccountDifference, compareAccounts } from "../../snapshot/compare.ts";
import { openReads, type ReadSource } from "../open-reads.ts";
import type { RunEnvironment } from "../session.ts";

/** What `dimsync compare -o json` prints. */
export interface Comparison {
  readonly kind: "Comparison";
  readonly from: string;
  readonly to: string;
  readonly differences: readonly AccountDifference[];
  readonly exit: Exit;
}

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
      const exit: Exit = differences.length === 0 ? { code: 0, reasons: [] } : { code: 2, reasons: ["differences"] };
      return { kind: "Comparison", from: from.name, to: to.name, differences, exit };
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}
