import { type Address, kindOf, objectPattern, schemasKind } from "../../base/model/address.ts";
import { below, type Problem, type ProblemText, problemAt } from "../../base/model/problem.ts";
import type { AllowEntry, IgnoreEntry } from "../../base/model/settings/config.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { nameMatcher, namePatterns, schemasAddress } from "../../kinds/index.ts";

// Addresses that people write and nothing has: `ignore` and `allow` in the config, --only and --exclude.

/** The addresses that a name can mean. */
export interface KnownAddresses {
  /** Those of manifests, and of what was compared. */
  readonly now: readonly Address[];
  /** Those of earlier runs, of the base and of other targets: an entry for one of them is left over, and no mistake. */
  readonly others: readonly Address[];
  /** Whether other accounts may have schemas that this one does not. */
  readonly hasOtherTargets: boolean;
}

const isMatched = (pattern: string, addresses: readonly Address[]): boolean =>
  addresses.includes(pattern) || addresses.some(nameMatcher([objectPattern(pattern)]));

/** Whether nothing has had the address. What a glob may match, and what another account may have, is not known. */
function isUnknown(pattern: string, { now, others, hasOtherTargets }: KnownAddresses): boolean {
  const isLiteral = namePatterns(pattern).positive[0]?.literal !== undefined;
  return isLiteral && !isMatched(pattern, [...now, ...others]) && !(hasOtherTargets && kindOf(pattern) === schemasKind);
}

/** A pattern of a flag that nothing has. */
export function unmatchedPattern(flag: string, pattern: string, addresses: readonly Address[]): readonly Problem[] {
  if (isMatched(pattern, addresses)) return [];
  const message = `${flag} ${JSON.stringify(pattern)} matches nothing that the manifests declare for this account.${didYouMean(pattern, addresses)}`;
  return [problemAt(undefined, { code: "E_UNKNOWN_ADDRESS", message })];
}

/** An entry of the config that matches nothing: an error if nothing has ever had its address, else a warning. */
function unmatchedEntry(
  { address, reason, place }: { readonly address: Address } & Pick<IgnoreEntry, "reason" | "place">,
  known: KnownAddresses,
  without: string,
): Problem {
  const text: Omit<ProblemText, "message"> = isUnknown(address, known)
    ? { code: "E_UNKNOWN_ADDRESS" }
    : { code: "W_UNUSED", severity: "warning" };
  const message = `No object has the address ${JSON.stringify(address)}, so the entry ${without} nothing (${reason}).${didYouMean(address, known.now)} Correct the address, or remove the entry.`;
  return problemAt(below(place, ["address"]), { ...text, message });
}

/** The current entries of `ignore` that match nothing. */
export const unmatchedIgnores = (entries: readonly IgnoreEntry[], known: KnownAddresses): readonly Problem[] =>
  entries.filter(({ address }) => !isMatched(address, known.now)).map((entry) => unmatchedEntry(entry, known, "ignores"));

/** The current entries of `allow` for an address that nothing has ever had. Those that only lift nothing have a warning of their own. */
export const unknownAllowances = (entries: readonly AllowEntry[], known: KnownAddresses): readonly Problem[] =>
  entries.flatMap(({ address, ...entry }) =>
    address === undefined || !isUnknown(address, known) ? [] : [unmatchedEntry({ ...entry, address }, known, "lifts")],
  );

/** The addresses of the schemas of integrations with these names. */
export const schemasOfNames = (names: Iterable<string>): readonly Address[] => [...new Set(names)].map(schemasAddress);
