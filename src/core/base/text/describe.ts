import { fromPointer, type Pointer } from "../model/json/pointer.ts";

/**
 * A path in a document, as a user writes it: `spec.create.enabled`, `spec.rules[2].match`,
 * `spec.schemas."a.b"`; "the document" for "".
 */
export function documentPath(pointer: Pointer): string {
  let text = "";
  for (const segment of fromPointer(pointer)) {
    if (/^[0-9]+$/u.test(segment) && text !== "") text += `[${segment}]`;
    else text += `${text === "" ? "" : "."}${/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(segment) ? segment : JSON.stringify(segment)}`;
  }
  return text === "" ? "the document" : `\`${text}\``;
}

/** A rule in a sentence, from its name: "rule 3", or "rule 3 of pii" in a RuleSet, if it has no id. `shown`: the name as the text shows it. */
export function ruleText(name: string, shown = JSON.stringify(name)): string {
  const [, set, number] = /^(?:(.+) )?(rule \d+)$/u.exec(name) ?? [];
  if (number === undefined) return `rule ${shown}`;
  return set === undefined ? number : `${number} of ${set}`;
}

export const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** What a value is, for a sentence: "a string", "a number", "a map". */
export function describeType(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return { string: "a string", number: "a number", boolean: "true or false", object: "a map" }[typeof value as string] ?? "nothing";
}

const typeWords = new Map([
  ["string", "a string"],
  ["integer", "a whole number"],
  ["number", "a number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["null", "empty"],
]);

/** JSON Schema types for a sentence: "a string or a map"; `map` says what kind of map. */
export function describeTypes(types: readonly string[], map = "a map"): string {
  return enumerate(
    types.map((type) => (type === "object" ? map : (typeWords.get(type) ?? type))),
    "or",
  );
}

/** "a", "a or b", "a, b or c". */
export function enumerate(words: readonly string[], conjunction: "and" | "or"): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} ${conjunction} ${last}`;
}

/** Names as code: "`a`, `b` and `c`". */
export const codeList = (names: readonly string[], conjunction: "and" | "or"): string =>
  enumerate(
    names.map((name) => `\`${name}\``),
    conjunction,
  );
