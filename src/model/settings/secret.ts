import { canonicalJson, isObject, type JsonObject, type JsonValue } from "../json/json.ts";

/** The source of a secret: exactly one of env, file, exec. */
export interface SecretSource {
  readonly env?: string;
  readonly file?: string;
  readonly exec?: readonly string[];
  /** JSON Pointer into the secret's text, read as JSON. */
  readonly pointer?: string;
  readonly type?: "integer" | "number" | "boolean";
}

/** The form of a secret in a manifest, a plan and a request body until it is sent. */
export interface SecretReference {
  readonly $secret: SecretSource & JsonObject;
}

export function isSecretReference(value: unknown): value is SecretReference {
  return isObject(value) && Object.hasOwn(value, "$secret");
}

/** Identifies a secret: equal references share a value. */
export const secretKey = (reference: SecretReference): string => canonicalJson(reference);

/** Every `$secret` in a value, in document order. */
export function secretsIn(value: unknown): readonly SecretReference[] {
  if (isSecretReference(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  return isObject(value) ? Object.values(value).flatMap(secretsIn) : [];
}

/** Shown instead of the value: its source. */
export function describeSecret({ $secret }: SecretReference): string {
  if ($secret.env !== undefined) return `secret env:${$secret.env}`;
  if ($secret.file !== undefined) return `secret file:${$secret.file}`;
  return `secret exec:${$secret.exec?.[0] ?? ""}`;
}

const hidden = "[secret]";

/**
 * A value that came from a secret. Accidental conversions to text (template, concatenation, JSON,
 * inspect) give "[secret]"; only `reveal` gives the value, and only the code that writes a request
 * or the API key header calls it.
 */
export class Secret<T extends JsonValue = JsonValue> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
    if (typeof value === "string") remember(value);
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [Symbol.toPrimitive](): string {
    return hidden;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return hidden;
  }
}

// The second net, for text that happens to contain a secret, such as a name that the service returns. Process-wide, because it is applied where text
// leaves the process.
const known = new Map<string, readonly string[]>();
/** Shorter ones are parts of ordinary words. */
const shortestMasked = 8;
/** A process that runs for months sees keys come and go. */
const mostKnown = 1_000;

function remember(value: string): void {
  if (known.has(value)) return;
  const forms = [value, ...value.split("\n")].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(Buffer.from(text).toString()),
  ]);
  known.set(
    value,
    [...new Set(forms)].filter(({ length }) => length >= shortestMasked).sort((a, b) => b.length - a.length),
  );
  const [oldest] = known.keys();
  if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
}

/** The text with `***` instead of every secret that this process has read: its value, each of its lines, and both in JSON and in a URL. */
export function masked(text: string): string {
  let result = text;
  for (const forms of known.values()) for (const form of forms) if (result.includes(form)) result = result.replaceAll(form, "***");
  return result;
}

/** Names whose value is always a secret. */
const secretNames = /password|passwd|secret|token|private_?key|passphrase|api_?key/iu;

export const isSecretName = (name: string): boolean => secretNames.test(name);

/** Why an environment variable counts as a secret by its name, as the end of "NAME …"; undefined if it does not. */
export function whySecretVariable(name: string): string | undefined {
  const upper = name.toUpperCase();
  if (upper.startsWith("DIMSYNC_") && !upper.startsWith("DIMSYNC_VAR_")) return "configures dimsync";
  if (upper.startsWith("ACTIONS_")) return "belongs to GitHub Actions";
  return isSecretName(name) ? "has the name of a secret" : undefined;
}
