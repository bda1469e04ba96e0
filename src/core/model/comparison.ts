import type { Address } from "./address.ts";
import type { Exit } from "./exit.ts";
import type { Item } from "./plan.ts";

/** How an account differs from another one, as the items of a plan that nobody sends. Plain data: what `dimsync compare -o json` prints. */
export interface Comparison {
  readonly formatVersion: "2.0";
  readonly kind: "Comparison";
  /** The names of the targets, or the snapshot files. */
  readonly from: string;
  readonly to: string;
  /**
   * The objects that both have. `before` is the value in `from`, `after` that in `to`, `liveId` the id in `to`. "exposes": `to` protects
   * less. The field `exists` is that of a schema, table or column that one of them does not have.
   */
  readonly items: readonly Item[];
  readonly onlyFrom: readonly LoneObject[];
  readonly onlyTo: readonly LoneObject[];
  readonly exit: Exit;
}

/** An object that the other account does not have. */
interface LoneObject {
  readonly address: Address;
  readonly id: string;
}
