import { canonicalJson, isObject, type JsonObject } from "../json/json.ts";

/** The source of a secret: exactly one of env and file. */
export interface SecretSource {
  readonly env?: string;
  readonly file?: string;
}

/** The form of a secret in a manifest, a plan and a request body until it is sent. */
export interface SecretReference {
  readonly $secret: SecretSource & JsonObject;
}

/** A map with the member `$secret`, unless that is a column, table or schema of this name in a request body: no reference has its members. */
export function isSecretReference(value: unknown): value is SecretReference {
  if (!isObject(value) || !Object.hasOwn(value, "$secret")) return false;
  const source = value["$secret"];
  return !(isObject(source) && (["enabled", "hashed"].some((name) => typeof source[name] === "boolean") || isNode(source)));
}

const isNode = (source: Readonly<Record<string, unknown>>): boolean => ["tables", "columns"].some((name) => isObject(source[name]));

/** Identifies a secret: equal references share a value. */
export const secretKey = (reference: SecretReference): string => canonicalJson(reference);

/** Every `$secret` in a value, in document order. */
export function secretsIn(value: unknown): readonly SecretReference[] {
  const found: SecretReference[] = [];
  const visit = (one: unknown): void => {
    if (typeof one !== "object" || one === null) return;
    if (isSecretReference(one)) found.push(one);
    else for (const member of Object.values(one)) visit(member);
  };
  visit(value);
  return found;
}

/** Shown instead of the value: its source. */
export function describeSecret({ $secret }: SecretReference): string {
  return $secret.env === undefined ? `secret file:${$secret.file ?? ""}` : `secret env:${$secret.env}`;
}

const hidden = "[secret]";

/**
 * A value that came from a secret. Accidental conversions to text (template, concatenation, JSON,
 * inspect) give "[secret]"; only `reveal` gives the value, and only the code that writes a request
 * or the API key header calls it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    remember(value);
  }

  reveal(): string {
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

/**
 * The text in hex and in base64, as far as it is in base64 wherever it begins in what is encoded, such as a user name before it. Short ones have
 * no form that only they have.
 */
export function encodedForms(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/u, "");
    const isWhole = (before + bytes.length) % 3 === 0;
    return encoded.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
  });
  return [bytes.toString("hex"), ...inBase64].filter(({ length }) => length >= 4);
}

// The second net, for text that happens to contain a secret, such as a name that the service returns. Process-wide, because it is applied where text
// leaves the process.
const known = new Map<string, (text: string) => string>();
/** Shorter ones are parts of ordinary words, and are masked only on their own. */
const shortestPart = 8;
/** Even shorter ones are too common. */
const shortestWord = 4;
/** Letters with digits or signs: anything else can be a key, a number or a literal of JSON, such as `true`. */
const isMixed = (text: string): boolean => /\p{L}/u.test(text) && /[^\p{L}]/u.test(text);
/** A process that runs for months sees keys come and go. */
const mostKnown = 1_000;

/** Masks the text from now on. */
export function remember(value = ""): void {
  if (value.length < shortestWord || known.has(value)) return;
  const lines = value.split("\n").filter(({ length }) => length >= shortestPart);
  const forms = new Set(
    [value, ...lines].flatMap((text) => [
      ...[text, JSON.stringify(text).slice(1, -1), encodeURIComponent(Buffer.from(text).toString())],
      ...encodedForms(text).filter(({ length }) => length >= shortestPart),
    ]),
  );
  const patterns = [...forms]
    .filter((form) => form.length >= shortestPart || isMixed(form))
    .sort((a, b) => b.length - a.length)
    .map((form) => ({ form, pattern: form.length >= shortestPart ? form : wordPattern(form) }));
  known.set(value, (text) =>
    patterns.reduce((rest, { form, pattern }) => (rest.includes(form) ? rest.replaceAll(pattern, "***") : rest), text),
  );
  const [oldest] = known.keys();
  if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
  for (const password of passwordIn(value)) remember(password);
}

/** Of a URL such as that of a database. */
const passwordIn = (url: string): readonly string[] =>
  url.includes("://") && URL.canParse(url) ? [new URL(url).password].flatMap((password) => [password, decoded(password)]) : [];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const wordPattern = (text: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${text.replaceAll(/[.*+?^${}()|[\]\\/]/gu, "\\$&")}(?![\\p{L}\\p{N}_])`, "gu");

/**
 * The text with `***` instead of every secret that this process has read: its value, each of its lines, and both in JSON, in a URL, in base64 and in hex. Secrets of 4 to 7
 * characters only on their own, and if they mix letters with other characters.
 */
export function masked(text: string): string {
  let result = text;
  for (const mask of known.values()) result = mask(result);
  return result;
}

const variables = new Set<string>();

/** Hides the environment variables of these secrets from the programs that this process starts. */
export function hideVariables(references: readonly SecretReference[]): void {
  for (const { $secret } of references) if ($secret.env !== undefined) variables.add($secret.env);
}

export const isSecretVariable = (name: string): boolean => variables.has(name);

/** Names whose value is always a secret. */
const secretNames =
  /password|passwd|pwd|secret|token|private[-_]?key|passphrase|api[-_]?key|credential|(?:access|ssh|storage|account)[-_]?key$|encryption[-_]?key|bearer|(?:^|[-_])(?:pass|sas)$/iu;

export const isSecretName = (name: string): boolean => secretNames.test(name);

/** A PEM private key, a password in a URL, one in a connection string, or what an Authorization header has. */
const secretForms =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*:[^\s/?#@]+@|(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s*=\s*[^\s;&]|\b(?:basic|bearer) [a-z0-9+/._~-]{12,}=*(?:\s|$)/iu;

/** Whether a text contains a secret, whatever its name. */
export const isSecretValue = (text: string): boolean => secretForms.test(text);
