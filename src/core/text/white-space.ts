/** Whether two values are texts that differ only in white space at their ends or in their line ends. */
export const differsInSpace = (a: unknown, b: unknown): boolean =>
  typeof a === "string" && typeof b === "string" && a !== b && plain(a) === plain(b);

const plain = (text: string): string => text.replace(/[ \t]*(?:\r\n?|\n)/gu, "\n").trim();
