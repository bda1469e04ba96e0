import { emptyRecord, isObject, type JsonValue } from "../model/json.ts";

// A printer of its own, since the library's breaks a long list into one line per name: lists of
// table and column names are wrapped into rows here, and small maps stand on one line. Names have
// two forms: plain where that is safe, otherwise the JSON text, which YAML reads alike.

/** Where a row of a wrapped list ends. */
const width = 110;
const plain = /^[A-Za-z_][\w-]*(?:[./@ ][\w-]+)*$/u;
/** Plain scalars that YAML 1.2 core, or a YAML 1.1 tool, reads as something else than text. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/** A scalar or a collection on one line, in flow style. */
export function inlineYaml(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(inlineYaml).join(", ")}]`;
  if (isObject(value)) {
    const map = value as Readonly<Record<string, JsonValue>>;
    const members = Object.keys(map).map((key) => `${scalar(key)}: ${inlineYaml(map[key] ?? null)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return typeof value === "string" ? scalar(value) : JSON.stringify(value);
}

/** Lines of a value in block style, without indentation; what fits stands on one line. */
export function yamlLines(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return value.every(isScalar) ? rows(value) : value.flatMap((item: JsonValue) => itemLines(item));
  if (!isObject(value) || Object.keys(value).length === 0) return [inlineYaml(value as JsonValue)];
  const map = value as Readonly<Record<string, JsonValue>>;
  return Object.keys(map).flatMap((key) => memberLines(key, map[key] ?? null));
}

/** Lines of one member of a block map. */
export function memberLines(key: string, value: JsonValue): readonly string[] {
  const start = `${scalar(key)}:`;
  if (isInline(value)) {
    const line = `${start} ${inlineYaml(value)}`;
    if (line.length <= width || isScalar(value)) return [line];
  }
  return [start, ...indented(yamlLines(value))];
}

/** Lines of one item of a block list. */
export function itemLines(value: JsonValue): readonly string[] {
  const [first = "", ...rest] = isScalar(value) || (Array.isArray(value) && value.every(isScalar)) ? [inlineYaml(value)] : yamlLines(value);
  return [`- ${first}`, ...indented(rest)];
}

export const indented = (lines: readonly string[], by = "  "): readonly string[] => lines.map((line) => (line === "" ? "" : by + line));

/**
 * `${` in a manifest begins a reference; a literal one is written `$${` (product §2.2). Keys are
 * never substituted.
 */
export function escapeReferences(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (!isObject(value)) return value;
  const map = value as Readonly<Record<string, JsonValue>>;
  const escaped = emptyRecord<JsonValue>();
  for (const key of Object.keys(map)) escaped[key] = escapeReferences(map[key] ?? null);
  return escaped;
}

const isScalar = (value: JsonValue): boolean => typeof value !== "object" || value === null;

/**
 * Scalars, lists of scalars, maps of both, and a few columns of a table may share a line with their
 * key.
 */
function isInline(value: JsonValue): boolean {
  if (isScalar(value)) return true;
  if (Array.isArray(value)) return value.every(isScalar);
  const members = Object.entries(value as Readonly<Record<string, JsonValue>>);
  return members.every(
    ([key, member]) => isScalar(member) || (Array.isArray(member) && member.every(isScalar)) || (key === "columns" && isShort(member)),
  );
}

const isShort = (columns: JsonValue): boolean => {
  const entries = Object.values(columns as Readonly<Record<string, JsonValue>>);
  return entries.length <= 3 && entries.every(isInline);
};

function rows(items: readonly JsonValue[]): readonly string[] {
  const lines: string[] = [];
  let row = "[";
  for (const [index, item] of items.entries()) {
    const text = inlineYaml(item) + (index < items.length - 1 ? "," : "]");
    if (row.length + 1 + text.length > width && row.trim() !== "[" && row.trim() !== "") {
      lines.push(row);
      row = ` ${text}`;
    } else row += row.endsWith("[") ? text : ` ${text}`;
  }
  return [...lines, items.length === 0 ? "[]" : row];
}

function scalar(text: string): string {
  if (plain.test(text) && !reserved.test(text)) return text;
  // JSON leaves these as they are, and YAML takes them for line breaks or refuses them.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
