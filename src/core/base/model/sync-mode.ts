/**
 * Whether two texts are the same mode: "Change Stream" in the user interface and in requests, "CHANGE_STREAM" in responses. Case does not
 * matter, nor does anything but letters and digits: "change_stream_no_snapshot" is "Change Stream (No Snapshot)".
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

/** Only letters and digits, in upper case. */
const letters = (mode: string): string => mode.replace(/[^\p{L}\p{N}]+/gu, "").toUpperCase();

/** Users of other tools call the mode by its abbreviation. */
const folded = (mode: string): string => (letters(mode) === "CDC" ? "CHANGESTREAM" : letters(mode));
