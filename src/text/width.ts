import stringWidth from "string-width";

// Printable ASCII and the signs of dimsync: the most common characters, each one column wide.
const plain = /^[ -~→…✓✗≠↳×·]*$/u;

/**
 * The width of a text in terminal columns. The text must not contain line breaks or escape
 * sequences.
 */
export function widthOf(text: string): number {
  // string-width costs 20 ms when it is first used.
  return plain.test(text) ? text.length : stringWidth(text);
}
