/**
 * Whether two texts are the same mode: "Change Stream" in the user interface and in requests, "CHANGE_STREAM" in responses. Case does not
 * matter, nor whether words are separated by spaces or underscores.
 */
export const isSameMode = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && folded(a) === folded(b));

const folded = (mode: string): string =>
  mode
    .replace(/[\s_]+/gu, " ")
    .trim()
    .toUpperCase();
