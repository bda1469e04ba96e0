import type { Address } from "../../model/address.ts";
import type { Difference } from "../../model/plan.ts";
import type { Unmet } from "./judgement.ts";
import { levelNames, nodePointer, nodeText } from "./node.ts";

/** Assertions that don't hold, as what a person has to do: the interface has no call that changes these members (interface §4.3). */
export function manualSteps(address: Address, label: string, unmet: readonly Unmet[]): Difference["manual"] {
  return unmet.map(({ path, key, expected, actual }) => {
    const what = `${levelNames[path.length - 1]} ${nodeText(path)} of ${label}`;
    const advice =
      key === "isPrimaryKey"
        ? "The primary key is the source's: change it there and have the schema discovered again"
        : `No call of the interface changes ${key}: set it in the service's own user interface`;
    return {
      address,
      path: nodePointer(path, key),
      expected,
      ...(actual === undefined ? {} : { actual }),
      instruction: `${advice} for ${what} (wanted: ${JSON.stringify(expected)}, ${actual === undefined ? "not set now" : `now: ${JSON.stringify(actual)}`}), or correct spec.expect.`,
    };
  });
}
