import { encodedForms } from "../base/model/settings/secret.ts";

const mask = "▒▒▒";

/** Far more than is shown. */
const longestText = 2_000;

/** On one line, without control characters. */
export function printable(text: string): string {
  return text
    .slice(0, longestText)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

/** The length of a run that a text and a secret have in common by accident at most. Of a long one, such as a private key, more. */
const runOf = (secret: string): number => (secret.length > 64 ? 8 : 4);

/**
 * The text with a mask for each word that has a run of characters of a secret: plain, in base64, in hex, escaped for JSON or a URL, or with other
 * signs between its letters. Undefined if nothing else is left, or if it repeats one in escapes that stand for any character.
 */
export function withoutEchoes(text: string, secrets: readonly string[]): string | undefined {
  const told = secrets.filter((secret) => secret !== "");
  const echoed = told.flatMap((secret) => echoesOf(secret, text));
  const isHidden = Array.from({ length: text.length }, () => false);
  for (const [start, end] of echoed) isHidden.fill(true, start, end);
  const shown = text
    .replace(/[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu, (part, at: number) => (isHidden.slice(at, at + part.length).includes(true) ? mask : part))
    .replaceAll(/▒▒▒(?:[^\s▒]?▒▒▒)+/gu, mask);
  const plain = unescaped(shown);
  const isRepeated = plain !== shown && told.some((secret) => spelledOut(secret, plain).length > 0);
  return isRepeated || (echoed.length > 0 && lettersIn(shown).letters === "") ? undefined : shown;
}

type Range = readonly [start: number, end: number];

function echoesOf(secret: string, text: string): readonly Range[] {
  if (secret.length < 4) return [...text.matchAll(/[\p{L}\p{N}]+/gu)].flatMap((word) => (word[0] === secret ? [rangeOf(word)] : []));
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(Buffer.from(secret).toString())];
  const encoded = encodedForms(secret);
  const folds = foldedIn(text);
  const inBase64 = text.replaceAll("-", "+").replaceAll("_", "/");
  return [
    ...plain.flatMap((form) => sharedRuns(foldedIn(form), folds, runOf(secret))),
    ...encoded.flatMap((form) => sharedRuns(form, inBase64, 6)),
    ...[secret, ...encoded].flatMap((form) => spelledOut(form, text)),
  ];
}

const rangeOf = ({ index, 0: { length } }: RegExpExecArray): Range => [index, index + length];

/** Where the text has so many characters of the form in a row, or all of a shorter form. */
function sharedRuns(form: string, text: string, most: number): readonly Range[] {
  const length = Math.min(most, form.length);
  if (length < 4) return [];
  const runs = new Set(Array.from({ length: form.length - length + 1 }, (_, at) => form.slice(at, at + length)));
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at): Range => [at, at + length]).filter(([start, end]) =>
    runs.has(text.slice(start, end)),
  );
}

/** Where the text has letters of the form in a row, whatever is between them. */
function spelledOut(form: string, text: string): readonly Range[] {
  const { letters, at } = lettersIn(text);
  return sharedRuns(lettersIn(form).letters, letters, 8).map(([start, end]) => [at[start] ?? 0, (at[end - 1] ?? 0) + 1]);
}

/** Each character alone, so that positions stay the same. */
const foldedIn = (text: string): string =>
  text.replace(/./gsu, (character) => {
    const fold = character.normalize("NFKC").toLowerCase();
    return fold.length === character.length ? fold : character;
  });

/** The letters and digits, and where they are. */
function lettersIn(text: string): { readonly letters: string; readonly at: readonly number[] } {
  const found = [...foldedIn(text).matchAll(/[\p{L}\p{N}]/gu)];
  const at = found.flatMap(({ index, 0: { length } }) => Array.from({ length }, (_, unit) => index + unit));
  return { letters: found.map(([letter]) => letter).join(""), at };
}

/** Without the escapes of JSON and HTML that can stand for any character. */
const unescaped = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})|&#x([0-9a-f]{1,4});/giu, (_, json: string | undefined, html: string | undefined) =>
      String.fromCharCode(Number.parseInt(json ?? html ?? "0", 16)),
    )
    .replace(/&#(\d{1,5});/gu, (_, code: string) => String.fromCharCode(Number(code)));
