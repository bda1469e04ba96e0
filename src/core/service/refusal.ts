import { isObject, memberAt, own } from "../base/model/json/json.ts";

// Forms of an error body: `{ code, message }`; `message` as a text, a list of texts, or an object with code and message; `error`
// likewise; `{ ok: false, error }`. Some come with a status of 2xx.

/** What the service says of a request that it refused. */
export interface ServiceRefusal {
  /** Of the service: "NotFound_Integration". */
  readonly code: string | undefined;
  /** Undecoded, in any language. */
  readonly words: string | undefined;
}

/** Thrown for an error in a response with status 2xx. */
export class RefusedInBody extends Error {
  readonly refusal: ServiceRefusal;

  constructor(refusal: ServiceRefusal) {
    super("the response is an error");
    this.refusal = refusal;
  }
}

/** Whether a response with status 404 says that the object itself is not there. Some say only that a part of it is unknown. */
export const isGone = ({ code }: ServiceRefusal): boolean =>
  code === undefined || (/^not.?found/iu.test(code) && !/config$/iu.test(code)) || /gone|no.?such/iu.test(code);

const ofPath = /^cannot [a-z]+ \/|^(?:404\W*)?(?:the )?(?:(?:page|path|route|url|resource|endpoint) )?not found\W*$|^404\W*$/iu;

/** Whether a response with status 404 has nothing about an object: no JSON, or what web frameworks say of a path that they do not know. */
export const isUnknownPath = ({ code, words }: ServiceRefusal): boolean =>
  code === undefined && (words === undefined || ofPath.test(words.trim()));

const longestBody = 65_536;

/** The code and the words of the body of an error response, as far as it has any. */
export function refusalOf(body: Buffer): ServiceRefusal {
  if (body.length > longestBody) return { code: undefined, words: undefined };
  try {
    return refusalIn(JSON.parse(body.toString("utf8")));
  } catch {
    return { code: undefined, words: undefined };
  }
}

/** The refusal in a response with status 2xx; undefined if it is none. */
export function refusalDespiteStatus(response: unknown): ServiceRefusal | undefined {
  if (!isObject(response)) return undefined;
  const code = own(response, "code");
  const isRefused = (typeof code === "string" && isNoCode(code)) || own(response, "ok") === false || isFilled(own(response, "error"));
  return isRefused ? refusalIn(response) : undefined;
}

function refusalIn(response: unknown): ServiceRefusal {
  if (!isObject(response)) return { code: undefined, words: undefined };
  const [message, error] = [own(response, "message"), own(response, "error")];
  const codes = [response, message, error].flatMap((part) => (isObject(part) ? own(part, "code") : []));
  const code = codes.find((one): one is string => typeof one === "string" && one.trim() !== "" && !isNoCode(one));
  const texts = [message, error, own(response, "errors")].map((part) => textsIn(part)).find(({ length }) => length > 0);
  const name = memberAt(error, "name");
  return { code, words: texts?.join("; ") ?? (typeof name === "string" ? name : undefined) };
}

/** Says only that there is an error. */
const isNoCode = (code: string): boolean => /^\s*(?:error|failed|failure)\s*$/iu.test(code);

const isFilled = (error: unknown): boolean =>
  (typeof error === "string" && error.trim() !== "") || error === true || (isObject(error) && Object.keys(error).length > 0);

const mostTexts = 10;

function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (depth > 2) return [];
  if (Array.isArray(value)) return value.slice(0, mostTexts).flatMap((one) => textsIn(one, depth + 1));
  return isObject(value) ? textsIn(own(value, "message") ?? own(value, "error"), depth + 1) : [];
}
