import { nameMatcher } from "../../core/kinds/patterns/names.ts";
import type { Address } from "../../core/model/address.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import { didYouMean } from "../../core/text/suggest.ts";

/** The addresses that the user asked for. */
interface Selection {
  /** Without patterns: every address. */
  readonly isSelected: (address: Address) => boolean;
  /** Throws E_UNKNOWN_ADDRESS for a pattern that matched no address so far. */
  readonly refuseUnused: () => void;
}

/** `patterns` are globs on addresses: "Integration/orders", "Tag/*". */
export function createSelection(patterns: readonly string[]): Selection {
  const wanted = patterns.map((pattern) => ({ pattern, matches: nameMatcher([pattern]), isUsed: false }));
  const seen = new Set<Address>();
  return {
    isSelected: (address) => {
      seen.add(address);
      const matching = wanted.filter(({ matches }) => matches(address));
      for (const one of matching) one.isUsed = true;
      return wanted.length === 0 || matching.length > 0;
    },
    refuseUnused: () => {
      const unused = wanted.find(({ isUsed }) => !isUsed)?.pattern;
      if (unused === undefined) return;
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `No object in the account would get the address ${JSON.stringify(unused)}.${didYouMean(unused, [...seen])} To see all addresses:`,
        { command: "dimsync import --dry-run" },
      );
    },
  };
}
