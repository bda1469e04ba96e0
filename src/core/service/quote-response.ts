import type { Secret } from "../model/settings/secret.ts";
import { mask, maskedWords, type SentSecrets } from "./masked-words.ts";
import type { Refusal } from "./refusal.ts";

const longestQuote = 300;

/**
 * A sentence with the code and words of a refusal, or one that says why they are withheld; "" without words. `secrets` are those of
 * the request: the response may repeat them in any form, so of its words only those are shown that cannot come from them.
 */
export function quoteRefusal({ code, words }: Refusal, secrets: SentSecrets | undefined, apiKey: Secret<string>): string {
  const parts = [code, words].flatMap((part) => (part === undefined ? [] : printable(part))).filter((part) => part !== "");
  if (parts.length === 0) return "";
  const key = apiKey.reveal();
  const whole = parts.join(": ");
  const texts = [whole, code ?? "", words ?? ""];
  if ([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)].some((form) => texts.some((text) => text.includes(form))))
    return "The text of the response is withheld, because it contains the API key.";
  const masked = secrets === undefined ? whole : maskedWords(parts, secrets);
  // The answer to a wrong key may show the beginning of it.
  const shown = masked?.replace(/[\p{L}\p{N}_-]{4,}/gu, (word) => (key.includes(word) ? mask : word));
  if (shown !== undefined && !/[\p{L}\p{N}]/u.test(shown))
    return "The text of the response is withheld, because the request contained secrets.";
  if (shown === undefined) return "The text of the response is withheld, because it repeats a secret of the request.";
  const hidden = shown.includes(mask) ? " Words that could come from a secret of the request are masked." : "";
  return `The service says: "${shorten(shown)}".${hidden}`;
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
