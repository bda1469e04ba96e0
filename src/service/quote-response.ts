import { isObject, own } from "../model/json.ts";
import type { Secret } from "../model/secret.ts";

const longestQuote = 300;
const longestBody = 65_536;

/**
 * A sentence with the `code` and `message` of an error answer (interface §7), or one that says why they are withheld: an answer to a request with secrets
 * may repeat them in any form, so none of its text is shown; one that repeats the API key is not shown either. "" where the answer has neither member.
 */
export function quoteAnswer(body: Buffer, requestHeldSecrets: boolean, apiKey: Secret<string>): string {
  if (requestHeldSecrets) return "The answer's text is withheld, because the request carried secrets.";
  const words = wordsOf(body);
  if (words.length === 0) return "";
  const said = words.join(": ");
  const key = apiKey.reveal();
  if (
    [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)].some((form) => said.includes(form) || printable(said).includes(form))
  ) {
    return "The answer's text is withheld, because it repeats the API key.";
  }
  return `The service says: "${shorten(printable(said))}".`;
}

function wordsOf(body: Buffer): readonly string[] {
  if (body.length > longestBody) return [];
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString("utf8"));
  } catch {
    return [];
  }
  if (!isObject(answer)) return [];
  return [own(answer, "code"), own(answer, "message")].filter((word): word is string => typeof word === "string" && word.trim() !== "");
}

function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= longestQuote ? text : `${characters.slice(0, longestQuote - 1).join("")}…`;
}
