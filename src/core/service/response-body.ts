import { isAscii, isUtf8 } from "node:buffer";
import { parse as parseLossless } from "lossless-json";
import { type AnsweredCall, malformed } from "../base/model/decode.ts";
import type { ServiceError } from "../base/model/errors.ts";
import { isObject, type JsonValue, memberAt, own } from "../base/model/json/json.ts";
import { DeepNesting, type ParsedResponse, parseResponse, repeatedNames } from "../base/model/json/parse.ts";
import { toPointer } from "../base/model/json/pointer.ts";
import type { WriteAnswer } from "../base/model/service.ts";

/**
 * The JSON of a body without an error, whatever its content-type says.
 * @throws RefusedInBody; ServiceError E_MALFORMED_ANSWER. Unlike the error of JSON.parse, its text never contains parts of the body.
 */
export const readJson = (body: Buffer, where: AnsweredCall): JsonValue => accepted(body, where).value;

/**
 * The same for one object, in which a name that is there twice would hide a value. `isLeftOut`: whether the caller leaves out what has the
 * name. @throws ServiceError E_MALFORMED_ANSWER, too
 */
export function readUnique(
  body: Buffer,
  where: AnsweredCall,
  isLeftOut: (names: readonly string[], failure: ServiceError) => boolean = () => false,
): JsonValue {
  const response = accepted(body, where);
  for (const names of repeatedNames(response)) {
    const failure = malformed(where, toPointer(names), "is there twice");
    if (!isLeftOut(names, failure)) throw failure;
  }
  return response.value;
}

function accepted(body: Buffer, where: AnsweredCall): ParsedResponse {
  const response = parsed(body, where);
  const refusal = refusalDespiteStatus(response.value);
  if (refusal !== undefined) throw new RefusedInBody(refusal);
  return response;
}

function parsed(body: Buffer, where: AnsweredCall): ParsedResponse {
  if (body.length === 0) throw malformed(where, "", "is empty");
  // ASCII is not decoded but copied, to memory outside the heap.
  const encoding = isAscii(body) ? "latin1" : "utf8";
  if (encoding === "utf8" && !isUtf8(body))
    throw malformed(where, "", "is not UTF-8 text; a proxy may have compressed it in a way that dimsync cannot decode");
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  try {
    return parseResponse(body.toString(encoding, start), body);
  } catch (error) {
    if (error instanceof DeepNesting) throw malformed(where, "", error.message);
    const isMarkup = /^\s*</u.test(body.toString("latin1", start, start + 64));
    throw malformed(where, "", isMarkup ? "is HTML or XML, not JSON; it may come from a proxy or a login page" : "is not complete JSON");
  }
}

/**
 * The envelope of the response to a write (docs/service-interface.md#envelope). An int64 beyond 2^53
 * keeps its digits: JSON.parse would round it, so the body is then read a second time. A number in
 * `data.id` becomes its decimal text. An empty body is an answer that shows nothing.
 * @throws ServiceError E_MALFORMED_ANSWER, `sent` "maybe": the service acted, and the result cannot be read.
 */
export function readWriteResponse(status: number, body: Buffer, where: AnsweredCall): WriteAnswer {
  if (body.length === 0 || body.toString("latin1", 0, 64).trim() === "")
    return { status, data: undefined, int64Id: undefined, isEmpty: true };
  const envelope = readJson(body, where);
  if (!isObject(envelope)) throw malformed(where, "", "is not an object");
  // Some answers are the object itself, without an envelope.
  const isBare = own(envelope, "data") === undefined && typeof (own(envelope, "id") ?? own(envelope, "_id")) === "string";
  const data = (isBare ? envelope : own(envelope, "data")) as JsonValue | undefined;
  const ids = { id: own(envelope, "id"), dataId: memberAt(data, "id") };
  const rounded = [ids.id, ids.dataId].some((id) => typeof id === "number" && !Number.isSafeInteger(id));
  const exact = rounded ? exactIds(body, where) : ids;
  const int64Id = decimalText(exact.id);
  if (typeof ids.id === "number" && int64Id === undefined) throw malformed(where, "/id", "is not an integer");
  const dataId = typeof ids.dataId === "number" ? decimalText(exact.dataId) : undefined;
  const words = own(envelope, "message");
  return {
    status,
    data: isObject(data) && dataId !== undefined ? { ...(data as Record<string, JsonValue>), id: dataId } : data,
    int64Id,
    ...(typeof words === "string" ? { words } : {}),
  };
}

function exactIds(body: Buffer, where: AnsweredCall): { readonly id: unknown; readonly dataId: unknown } {
  let envelope: unknown;
  try {
    envelope = parseLossless(body.toString("utf8").replace(/^\uFEFF/u, ""), undefined, (digits) => digits);
  } catch {
    throw malformed(where, "/id", "is a number that is too large to be exact");
  }
  if (!isObject(envelope)) return { id: undefined, dataId: undefined };
  const data = own(envelope, "data");
  return { id: own(envelope, "id"), dataId: memberAt(data, "id") };
}

function decimalText(id: unknown): string | undefined {
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && /^-?\d+$/u.test(text) ? text : undefined;
}

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
function refusalDespiteStatus(response: unknown): ServiceRefusal | undefined {
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
