import { isObject, own } from "../model/json/json.ts";
import type { Secret } from "../model/settings/secret.ts";

const longestQuote = 300;
const longestBody = 65_536;

/**
 * A sentence with the `code` and `message` of an error response (docs/service-interface.md#errors), or
 * one that says why they are withheld. The response to a request with secrets may repeat them in any
 * form, so its text is not shown; nor is a text with the API key. "" if the response has neither member.
 */
export function quoteResponse(body: Buffer, requestHeldSecrets: boolean, apiKey: Secret<string>): string {
  if (requestHeldSecrets) return "The text of the response is withheld, because the request contained secrets.";
  const words = wordsOf(body);
  if (words.length === 0) return "";
  const quoted = words.join(": ");
  const key = apiKey.reveal();
  if (
    [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)].some(
      (form) => quoted.includes(form) || printable(quoted).includes(form),
    )
  ) {
    return "The text of the response is withheld, because it contains the API key.";
  }
  return `The service says: "${shorten(printable(quoted))}".`;
}

function wordsOf(body: Buffer): readonly string[] {
  if (body.length > longestBody) return [];
  let response: unknown;
  try {
    response = JSON.parse(body.toString("utf8"));
  } catch {
    return [];
  }
  if (!isObject(response)) return [];
  return [own(response, "code"), own(response, "message")].filter((word): word is string => typeof word === "string" && word.trim() !== "");
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
