import stringWidth from "string-width";

// Printable ASCII and the signs of dimsync: the most common characters, each one column wide.
const plain = /^[ -~←→…✓✗≠↳×·]*$/u;

/**
 * The width of a text in terminal columns. The text must not contain line breaks or escape
 * sequences. Only the beginning of a text that is longer than a line is measured, because
 * measuring a megabyte takes minutes: the rest counts as one column for each UTF-16 unit.
 */
export function widthOf(text: string): number {
  // string-width costs 20 ms when it is first used.
  if (plain.test(text)) return text.length;
  return text.length <= longest ? stringWidth(text) : stringWidth(text.slice(0, longest)) + text.length - longest;
}

const longest = 300;
