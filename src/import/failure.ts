import type { Address } from "../model/address.ts";
import { targetList } from "./other-targets.ts";

/** Something that could not be imported, and why. */
export interface ImportFailure {
  readonly address: Address;
  readonly message: string;
}

/** A manifest that import did not write, because these other targets would plan it too. */
export const notShared = (address: Address, targets: readonly string[]): ImportFailure => ({
  address,
  message: `A new manifest would also be part of the plan of ${targetList(targets)}, so import did not write one.`,
});
