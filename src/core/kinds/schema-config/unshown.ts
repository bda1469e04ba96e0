import type { Binding } from "../../model/address.ts";
import type { Pointer } from "../../model/json/pointer.ts";
import { nodePointer } from "../../model/nodes.ts";
import { leafDigests } from "../leaves.ts";
import type { NodeChange } from "./evaluation.ts";

// A value that protects is sent although the service does not show whether the account has it. It is sent once: the records keep one
// digest of all such values of an integration. Afterwards they are unverifiable.

interface Unshown {
  readonly changes: readonly NodeChange[];
  /** What an earlier run has sent, and no read shows. */
  readonly sentBefore: readonly Pointer[];
  /** What to record when the changes are sent; absent if all of their live values are known. */
  readonly record?: Omit<Binding, "id">;
}

const recordedAt = "/schemas";

/** Leaves out what was sent before, according to the records. */
export function withoutSent(changes: readonly NodeChange[], recorded: Binding | undefined): Unshown {
  const unknown = changes.filter(({ before }) => before === undefined);
  if (unknown.length === 0) return { changes, sentBefore: [] };
  const values = unknown.map(({ path, key, after }) => [nodePointer(path, key), after] as const);
  const sent = leafDigests(values, recordedAt);
  if (recorded?.sent?.[recordedAt] !== sent[recordedAt])
    return { changes, sentBefore: [], record: { sent: { ...recorded?.sent, ...sent } } };
  return { changes: changes.filter(({ before }) => before !== undefined), sentBefore: values.map(([pointer]) => pointer) };
}
