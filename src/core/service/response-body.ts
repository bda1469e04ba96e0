import { isAscii, isUtf8 } from "node:buffer";
import { parse as parseLossless } from "lossless-json";
import { type AnsweredCall, malformed } from "../base/model/decode.ts";
import type { ServiceError } from "../base/model/errors.ts";
import { isObject, type JsonValue, memberAt, own } from "../base/model/json/json.ts";
import { DeepNesting, type ParsedResponse, parseResponse, repeatedNames } from "../base/model/json/parse.ts";
import { toPointer } from "../base/model/json/pointer.ts";
import type { WriteAnswer } from "../base/model/service.ts";
import { RefusedInBody, refusalDespiteStatus } from "./refusal.ts";

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
