import { nameMatcher, namesMatcher } from "../kinds/patterns/names.ts";
import { type Address, manifestAddress } from "../model/address.ts";
import type { IgnoreEntry } from "../model/config.ts";
import { fromPointer, type Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";

/** Whether a difference at this place is not dimsync's business: plan and apply then neither show nor send it. */
export type Ignored = (address: Address, path: Pointer) => boolean;

/**
 * The `ignore` entries of the config that still hold on the day (product §2.1), and a warning for each that does not. An entry's address may be a glob
 * and means all parts of a manifest; its path means everything below it, with a glob for each segment: `/schemas/*` + `/tables/audit_*`.
 */
export function ignoring(
  entries: readonly IgnoreEntry[],
  today: string,
): { readonly ignored: Ignored; readonly problems: readonly Problem[] } {
  const expired = entries.filter(({ until }) => until !== undefined && until < today);
  const tests = entries
    .filter((entry) => !expired.includes(entry))
    .map(({ address, path }) => ({
      address: namesMatcher([address]),
      segments: fromPointer(path).map((segment) => nameMatcher([segment])),
    }));
  return {
    ignored: (address, path) => {
      if (tests.length === 0) return false;
      const names = fromPointer(path);
      return tests.some(
        (test) =>
          test.address([address, manifestAddress(address)]) &&
          test.segments.every((matches, index) => names[index] !== undefined && matches(names[index])),
      );
    },
    problems: expired.map(({ address, path, reason, until, place }) => ({
      code: "W_IGNORE_EXPIRED",
      severity: "warning",
      summary: "Ignore entry expired",
      message: `Differences of ${address} at ${path === "" ? "any path" : path} were ignored until ${until} (${reason}). They are shown and applied again; remove the entry from dimsync.yaml, or give it another day.`,
      address,
      ...(place === undefined ? {} : { place: { ...place, pointer: `${place.pointer}/until` } }),
    })),
  };
}
