import { emptyRecord, isObject, type JsonValue } from "../model/json/json.ts";
import { isPlainScalar } from "../text/values.ts";

// One printer for everything that dimsync writes as YAML. It is not the library's because that one takes a syntax tree, and seconds for the
// manifests of a large account.

/** The longest line that a collection in braces or brackets may fill. */
export const lineWidth = 120;

/** Where a value is printed. */
interface Layout {
  /** Column of the keys or dashes, from 0. */
  readonly column: number;
  /** Columns per level. */
  readonly step: number;
}

const topLevel: Layout = { column: 0, step: 2 };

const deeper = ({ column, step }: Layout, by = step): Layout => ({ column: column + by, step });

/** A scalar or a collection on one line, in flow style. */
export function inlineYaml(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(inlineYaml).join(", ")}]`;
  if (isObject(value)) {
    const members = membersOf(value as JsonMap).map(([key, member]) => `${stringYaml(key)}: ${inlineYaml(member)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return typeof value === "string" ? stringYaml(value) : JSON.stringify(value);
}

/**
 * Lines of a map or list in block style, or the one line of any other value; indentation included.
 */
export function blockLines(value: JsonValue, layout = topLevel): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item: JsonValue) => itemLines(item, layout));
  if (!isObject(value) || Object.keys(value).length === 0) return [indent(layout) + inlineYaml(value)];
  return membersOf(value as JsonMap).flatMap(([key, member]) => memberLines(key, member, layout));
}

/** Lines of one member of a block map, indentation included. */
export function memberLines(key: string, value: JsonValue, layout = topLevel): readonly string[] {
  const start = `${indent(layout)}${stringYaml(key)}:`;
  if (mayBeInline(value)) {
    const line = `${start} ${inlineYaml(value)}`;
    if (line.length <= lineWidth || !isFilled(value)) return [line];
  }
  return [start, ...blockLines(value, deeper(layout))];
}

/** Lines of one item of a block list, indentation included. */
function itemLines(value: JsonValue, layout: Layout): readonly string[] {
  if (!isFilled(value)) return [`${indent(layout)}- ${inlineYaml(value)}`];
  const [first = "", ...rest] = blockLines(value, deeper(layout, 2));
  return [`${indent(layout)}- ${first.trimStart()}`, ...rest];
}

/** A string with quotes only if necessary. */
export const stringYaml = (text: string): string => (isPlainScalar(text) ? text : doubleQuoted(text));

/** The key of a member on a line of its own, up to the colon. YAML allows more than 1,024 characters only after a question mark. */
export function keyYaml(name: string, column: number): string {
  const [before, key] = [" ".repeat(column), stringYaml(name)];
  return key.length > 1_024 ? `${before}? ${key}\n${before}:` : `${before}${key}:`;
}

/**
 * A string in double quotes, as JSON: with escapes, too, for characters that YAML or a reader may
 * take for something else.
 */
export const doubleQuoted = (text: string): string =>
  JSON.stringify(text)
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufeff\ufffe\uffff]/gu,
      // The escapes of a surrogate pair would be two characters.
      (character) => (character.length === 1 ? `\\u${hex(character, 4)}` : `\\U${hex(character, 8)}`),
    )
    // GitHub Actions finds this anywhere in a line of the log.
    .replaceAll("##[", "#\\x23[");

const hex = (character: string, digits: number): string => (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");

type JsonMap = Readonly<Record<string, JsonValue>>;

/** Without undefined members, as in JSON. */
const membersOf = (map: JsonMap): readonly (readonly [string, JsonValue])[] =>
  Object.entries(map).filter(([, member]) => member !== undefined);

const indent = ({ column }: Layout): string => " ".repeat(column);

/** Whether the value is a list or map with something in it. */
const isFilled = (value: JsonValue): boolean => typeof value === "object" && value !== null && Object.keys(value).length > 0;

const isScalar = (value: JsonValue): boolean => typeof value !== "object" || value === null;

/**
 * Scalars, lists of scalars, maps of both, and up to three columns of a table may be on one line
 * with their key.
 */
function mayBeInline(value: JsonValue): boolean {
  if (isScalar(value)) return true;
  if (Array.isArray(value)) return value.every(isScalar);
  return Object.entries(value as JsonMap).every(
    ([key, member]) => isScalar(member) || (Array.isArray(member) && member.every(isScalar)) || (key === "columns" && isShort(member)),
  );
}

function isShort(columns: JsonValue): boolean {
  const entries = Object.values(columns as JsonMap);
  return entries.length <= 3 && entries.every(mayBeInline);
}

// `${…}` in the strings of a file is a reference, and `$${` a literal `${`
// (docs/manifests.md#variables). Keys hold no references.

/** The value as it must be written so that nothing in it becomes a reference. */
export function escapeReferences(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (!isObject(value)) return value;
  const escaped = emptyRecord<JsonValue>();
  for (const [key, member] of Object.entries(value as Readonly<Record<string, JsonValue>>)) escaped[key] = escapeReferences(member);
  return escaped;
}

/** The first reference in a string, as written. */
export function referenceIn(text: string): string | undefined {
  return text.replaceAll("$${", "").match(/\$\{[^}]*\}?/u)?.[0];
}
