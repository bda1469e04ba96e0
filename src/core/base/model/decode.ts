import { ServiceError } from "./errors.ts";
import { isObject, type JsonValue, own } from "./json/json.ts";
import { type Pointer, toPointer } from "./json/pointer.ts";

/** The call whose response is read; `sent` is "maybe" for a write, which the service may have executed. */
export interface AnsweredCall {
  readonly method: string;
  readonly path: string;
  readonly sent: "maybe" | "answered";
  /** Whether the service has answered anything of this run as expected. Absent: it has. */
  readonly hasWorked?: () => boolean;
  /** The error for a part with a wrong value, if it is not of a response. */
  readonly refuse?: (pointer: Pointer) => Error;
}

/** Advice while nothing has worked: later, a wrong address is not the reason. */
const checkBaseUrl = " Check baseUrl and any proxy on the way to the service.";

const longestPointer = 300;

/** A response that violates the interface at `pointer` ("" is the whole body). `problem` continues the sentence: "is not an array". */
export function malformed(where: AnsweredCall, pointer: Pointer, problem: string): ServiceError {
  const place = pointer === "" ? "the response" : shorten(pointer);
  const unsure = where.method === "GET" ? "dimsync does not use it" : "it is not known whether the service acted on it";
  const reason = `${place} ${problem}. This is not a valid response of the service, so ${unsure}.${where.hasWorked?.() === false ? checkBaseUrl : ""}`;
  const { method, path, sent } = where;
  return new ServiceError("E_MALFORMED_ANSWER", `${method} ${path}: ${reason}`, { method, path, sent, reason });
}

/** Names in a pointer come from the account and can contain anything. */
function shorten(pointer: string): string {
  const plain = pointer.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
  return plain.length <= longestPointer ? plain : `${plain.slice(0, longestPointer)}…`;
}

/** A part of a response: its value and, for the error, its position. */
export interface ResponsePart {
  readonly value: unknown;
  readonly where: AnsweredCall;
  /** Its parent, or its pointer. A pointer is only built for an error, since a run decodes hundreds of thousands of parts. */
  readonly above: ResponsePart | Pointer;
  /** The name or index below the parent; undefined: the parent itself. */
  readonly name?: string | number;
}

type Members = Readonly<Record<string, unknown>>;

/** @throws always: ServiceError E_MALFORMED_ANSWER */
function refuse(part: ResponsePart, problem: string): never {
  const pointer = pointerOf(part);
  throw part.where.refuse?.(pointer) ?? malformed(part.where, pointer, problem);
}

function pointerOf({ above, name }: ResponsePart): Pointer {
  const pointer = typeof above === "string" ? above : pointerOf(above);
  return name === undefined ? pointer : `${pointer}${toPointer([name])}`;
}

/** A part as an object, with its members. @throws ServiceError E_MALFORMED_ANSWER, as every function here */
export function objectOf(part: ResponsePart): Members {
  return isObject(part.value) ? part.value : refuse(part, "is not an object");
}

/** One member of a part that is an object. */
export function memberOf(part: ResponsePart, name: string): ResponsePart {
  return { value: own(objectOf(part), name), where: part.where, above: part, name };
}

export function textOf(part: ResponsePart): string {
  return typeof part.value === "string" ? part.value : refuse(part, "is not a string");
}

/** null counts as absent. */
export function optionalTextOf(part: ResponsePart): string | undefined {
  return part.value === undefined || part.value === null ? undefined : textOf(part);
}

/** A member that nothing depends on: anything but a string is unknown. */
export const shownText = ({ value }: ResponsePart): string | undefined => (typeof value === "string" ? value : undefined);

/** As `shownText`, for true and false. */
export const shownFlag = ({ value }: ResponsePart): boolean | undefined => (typeof value === "boolean" ? value : undefined);

/** null counts as absent. */
export function optionalFlagOf(part: ResponsePart): boolean | undefined {
  if (part.value === undefined || part.value === null) return undefined;
  return flagOf(part);
}

function flagOf(part: ResponsePart): boolean {
  return typeof part.value === "boolean" ? part.value : refuse(part, "is neither true nor false");
}

/** A whole number that is exact. */
export function countOf(part: ResponsePart): number {
  return typeof part.value === "number" && Number.isSafeInteger(part.value) ? part.value : refuse(part, "is not an integer");
}

/** An id: a string, or a whole number as its decimal text. A number beyond 2^53 was rounded when it was read, so it is refused. */
export function idOf(part: ResponsePart): string {
  if (typeof part.value === "number" && Number.isInteger(part.value)) {
    return Number.isSafeInteger(part.value) ? String(part.value) : refuse(part, "is a number that is too large to be exact");
  }
  const id = part.value === "" ? refuse(part, "is an empty string") : textOf(part);
  // Programs on the way to the service would read a path with it as another one.
  return id === "." || id === ".." ? refuse(part, "consists of dots only") : id;
}

export function listOf(part: ResponsePart): readonly ResponsePart[] {
  if (!Array.isArray(part.value)) return refuse(part, "is not an array");
  return part.value.map((value: unknown, index) => ({ value, where: part.where, above: part, name: index }));
}

/** The response to a read (docs/service-interface.md#envelope). */
export interface Envelope {
  readonly top: ResponsePart;
  /** An object. */
  readonly data: ResponsePart;
}

/** @throws ServiceError E_MALFORMED_ANSWER if it is not an envelope with an object as `data` */
export function openEnvelope(value: JsonValue, where: AnsweredCall): Envelope {
  const top = { value, where, above: "" };
  const data = memberOf(top, "data");
  objectOf(data);
  return { top, data };
}

/** The response to a read of one object, with or without an envelope. @throws ServiceError E_MALFORMED_ANSWER */
export function openBare(value: JsonValue, where: AnsweredCall): Envelope {
  const top = { value, where, above: "" };
  return isObject(own(objectOf(top), "data")) ? openEnvelope(value, where) : { top, data: top };
}
