/**
 * Whether two texts are the same mode: "Change Stream" in the user interface and in requests, "CHANGE_STREAM" in responses. Case does not
 * matter, nor whether words are separated by spaces or underscores.
 */
export const isSameMode = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && folded(a) === folded(b));

/** The modes as a PATCH takes them. */
export const syncModes: readonly string[] = [
  "Full Refresh",
  "Incremental",
  "Incremental (Append-Only)",
  "Change Stream",
  "Change Tracking",
  "Change Stream (Append-Only)",
  "Change Stream (Initial Snapshot)",
  "Change Stream (No Snapshot)",
];

/** The mode as a PATCH takes it; undefined if it is none that is known. */
export const requestMode = (mode: string): string | undefined => syncModes.find((one) => isSameMode(one, mode));

const folded = (mode: string): string =>
  mode
    .replace(/[\s_]+/gu, " ")
    .trim()
    .toUpperCase();
