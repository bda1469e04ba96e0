import stringWidth from "string-width";

// What most texts hold, each one column wide: printable ASCII and our own signs.
const plain = /^[ -~→…✓✗≠↳×·]*$/u;

/** Columns that a text takes in a terminal. It must not hold line breaks or escape sequences. */
export function widthOf(text: string): number {
  // string-width costs 20 ms when it is first used.
  return plain.test(text) ? text.length : stringWidth(text);
}
