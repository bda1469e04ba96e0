import type { JsonValue } from "../model/json.ts";
import { atPointer } from "../model/pointer.ts";
import type { SecretSource } from "../model/secret.ts";
import { readNumber } from "./read-number.ts";
import type { SecretFault } from "./secret-source.ts";

/** The value in a secret's text: the member at `pointer`, as `type`. Faults never quote the text. */
export function convertSecret(text: string, { pointer, type }: SecretSource): { readonly value: JsonValue } | SecretFault {
  const picked = pointer === undefined ? { value: text } : pick(text, pointer);
  if (!("value" in picked)) return picked;
  const { value } = picked;
  if (typeof value === "string" && isPlaceholder(value)) {
    return fault(
      "E_PLACEHOLDER_SECRET",
      "Placeholder instead of a secret",
      "The value is a placeholder such as *** or changeme, not a secret. Put the real value there.",
    );
  }
  if (type === undefined) return { value };
  const converted = convert(typeof value === "string" ? value.trim() : value, type);
  return converted === undefined
    ? fault("E_SECRET_TYPE", "Secret of the wrong type", `The value is not ${typeWords[type]}, as \`type\` asks.`)
    : { value: converted };
}

function pick(text: string, pointer: string): { readonly value: JsonValue } | SecretFault {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    return fault("E_SECRET_POINTER", "Nothing at the secret's pointer", "`pointer` reads the value as JSON, and it is no JSON.");
  }
  const value = atPointer(whole, pointer);
  if (value === undefined || value === null || value === "") {
    return fault("E_SECRET_POINTER", "Nothing at the secret's pointer", `There is nothing at ${JSON.stringify(pointer)} in the JSON.`);
  }
  return { value: value as JsonValue }; // JSON.parse gives nothing else
}

const typeWords = { integer: "a whole number", number: "a number", boolean: "true or false" };

function convert(value: JsonValue, type: "integer" | "number" | "boolean"): JsonValue | undefined {
  if (type === "boolean") return typeof value === "boolean" ? value : value === "true" ? true : value === "false" ? false : undefined;
  return readNumber(typeof value === "string" || typeof value === "number" ? String(value) : "", type);
}

/** What people and tools leave where a secret belongs: `***`, `<redacted>`, `[secret]`, `changeme`, a substitution that did not happen. */
function isPlaceholder(value: string): boolean {
  const text = value.trim().toLowerCase();
  return /^(?:\*+|x{3,}|[<[{(]\s*(?:redacted|secret|password|masked|hidden|api[_-]?key|token|your[ _-].*)\s*[>\]})]|redacted|changeme|change[_-]me|todo|replace[_-]?me|\$\{[^}]*\})$/u.test(
    text,
  );
}

const fault = (code: string, summary: string, message: string): SecretFault => ({ code, summary, message });
