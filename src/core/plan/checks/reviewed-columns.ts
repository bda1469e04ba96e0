import { integrations } from "../../kinds/index.ts";
import type { Check, CheckInput } from "./check.ts";

/** Columns that nobody has reviewed, which can be any, and entries of the catalog without an integration. */
export function checkReviewedColumns({ run: { review }, account }: CheckInput): Check {
  if (review === undefined) return {};
  return {
    columns: () => () => true,
    end() {
      const { items } = account.list(integrations);
      // The list is empty if it was not read.
      const isKnown = items.length > 0 && account.isComplete && account.suspicions.every(({ list }) => list !== integrations);
      return { problems: isKnown ? review.problems(items) : [] };
    },
  };
}
