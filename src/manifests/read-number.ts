/** The number that a text stands for, in decimal notation; undefined for anything else, and for what is too large to be kept. */
export function readNumber(text: string, as: "integer" | "number"): number | undefined {
  const pattern = as === "integer" ? /^[+-]?[0-9]+$/u : /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/u;
  const number = pattern.test(text) ? Number(text) : Number.NaN;
  return (as === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number)) ? number : undefined;
}
