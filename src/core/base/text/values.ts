import { isObject, type JsonValue } from "../model/json/json.ts";
import { fromPointer, type Pointer } from "../model/json/pointer.ts";
import { describeSecret, isSecretName, isSecretReference, isSecretValue } from "../model/settings/secret.ts";
import { visible } from "./control-characters.ts";
import { nameText } from "./paths.ts";

/**
 * A value on one line, similar to JSON. A secret is shown as its source. A string whose `name` or
 * form is that of a secret is masked, although validation refuses it.
 */
export function valueText(value: JsonValue, name = ""): string {
  if (typeof value === "string") return isSecretName(name) || isSecretValue(value) ? "(secret)" : visible(JSON.stringify(value));
  if (isSecretReference(value)) return `(${visible(describeSecret(value))})`;
  if (Array.isArray(value)) return `[${value.map((element: JsonValue) => valueText(element, name)).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value as Readonly<Record<string, JsonValue>>);
    return members.length === 0 ? "{}" : `{ ${members.map(([key, member]) => `${nameText(key)}: ${valueText(member, key)}`).join(", ")} }`;
  }
  return String(value);
}

/** The value at a JSON Pointer on one line. The last name of the pointer decides whether it is a secret. */
export const valueAt = (pointer: Pointer, value: JsonValue): string => valueText(value, fromPointer(pointer).at(-1));

/** A value as lines of YAML, except for secrets. Short lists of scalars take one line. */
export function valueLines(value: JsonValue, name = ""): readonly string[] {
  if (isShort(value)) return [plainText(value, name)];
  if (Array.isArray(value)) return value.flatMap((element: JsonValue) => hanging("- ", valueLines(element, name)));
  return Object.entries(value as Readonly<Record<string, JsonValue>>).flatMap(([key, member]) => {
    const lines = valueLines(member, key);
    const label = plainText(key, "");
    return isShort(member) ? [`${label}: ${lines[0] ?? ""}`] : [`${label}:`, ...lines.map((line) => `  ${line}`)];
  });
}

/** At most `limit` characters, with an ellipsis instead of the rest. */
export const cutEnd = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

/**
 * At most `limit` characters. Leaves out the middle, because the differences can be at both ends.
 */
export function cutMiddle(text: string, limit: number): string {
  const characters = [...text];
  if (characters.length <= limit) return text;
  const head = Math.ceil((limit - 1) / 2);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (limit - 1 - head)).join("")}`;
}

function plainText(value: JsonValue, name: string): string {
  if (typeof value === "string" && isPlainScalar(value) && visible(value) === value && !isSecretName(name) && !isSecretValue(value))
    return value;
  return Array.isArray(value) ? `[${value.map((element: JsonValue) => plainText(element, name)).join(", ")}]` : valueText(value, name);
}

/** Whether it fits on one line: a scalar, a secret, something empty or a short list of scalars. */
function isShort(value: JsonValue): boolean {
  if (Array.isArray(value))
    return value.every((element: JsonValue) => !isObject(element) && !Array.isArray(element)) && valueText(value).length <= 70;
  return !isObject(value) || isSecretReference(value) || Object.keys(value).length === 0;
}

function hanging(marker: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${index === 0 ? marker : " ".repeat(marker.length)}${line}`);
}
/** Whether two values are texts that differ only in white space at their ends or in their line ends. */
export const differsInSpace = (a: unknown, b: unknown): boolean =>
  typeof a === "string" && typeof b === "string" && a !== b && plain(a) === plain(b);

const plain = (text: string): string => text.replace(/[ \t]*(?:\r\n?|\n)/gu, "\n").trim();

const unquoted = /^\$?[\p{L}_][\p{L}\p{N}_-]*(?:[./@+ ][\p{L}\p{N}_-]+)*$/u;
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/**
 * Whether YAML 1.1 and 1.2 read the text as the same string without quotes: as a key and as a
 * value, in block and in flow style.
 */
export const isPlainScalar = (text: string): boolean => unquoted.test(text) && !reserved.test(text);
