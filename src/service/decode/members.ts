import { ServiceError } from "../../model/errors.ts";
import { isObject, type JsonValue, own } from "../../model/json.ts";
import { type Pointer, toPointer } from "../../model/pointer.ts";

/** The call whose answer is read; `sent` is "maybe" for a write, which the service may have carried out. */
export interface Where {
  readonly method: string;
  readonly path: string;
  readonly sent: "maybe" | "answered";
}

const longestPointer = 300;

/** An answer that breaks the interface at `pointer` ("" is the whole body). `problem` goes on from there: "is not an array". */
export function malformed(where: Where, pointer: Pointer, problem: string): ServiceError {
  const place = pointer === "" ? "the answer" : shorten(pointer);
  const unsure = where.method === "GET" ? "nothing is concluded from it" : "what the service did is not known";
  return new ServiceError(
    "E_MALFORMED_ANSWER",
    `${where.method} ${where.path}: ${place} ${problem}. This is not an answer of the interface, so ${unsure}. Check baseUrl and what stands between here and the service.`,
    { method: where.method, path: where.path, sent: where.sent },
  );
}

/** Names in a pointer come from the account and may be anything. */
function shorten(pointer: string): string {
  const plain = pointer.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
  return plain.length <= longestPointer ? plain : `${plain.slice(0, longestPointer)}…`;
}

/** A part of an answer under decoding: the value, and where it stands, for the error. */
export interface Part {
  readonly value: unknown;
  readonly where: Where;
  /** What it is a part of, or where it stands: a pointer is put together only for an error, since a run decodes parts by the hundred thousand. */
  readonly above: Part | Pointer;
  /** The name or index below it; undefined: the very same place. */
  readonly name?: string | number;
}

export type Members = Readonly<Record<string, unknown>>;

/** @throws always: ServiceError E_MALFORMED_ANSWER */
function refuse(part: Part, problem: string): never {
  throw malformed(part.where, pointerOf(part), problem);
}

function pointerOf({ above, name }: Part): Pointer {
  const pointer = typeof above === "string" ? above : pointerOf(above);
  return name === undefined ? pointer : `${pointer}${toPointer([name])}`;
}

/** A part as an object, with its members. @throws ServiceError E_MALFORMED_ANSWER, as every function here */
export function objectOf(part: Part): Members {
  return isObject(part.value) ? part.value : refuse(part, "is not an object");
}

/** One member of a part that is an object. */
export function memberOf(part: Part, name: string): Part {
  return { value: own(objectOf(part), name), where: part.where, above: part, name };
}

export function textOf(part: Part): string {
  return typeof part.value === "string" ? part.value : refuse(part, "is not a string");
}

/** null is taken as absent. */
export function optionalTextOf(part: Part): string | undefined {
  return part.value === undefined || part.value === null ? undefined : textOf(part);
}

/** null is taken as absent. */
export function optionalFlagOf(part: Part): boolean | undefined {
  if (part.value === undefined || part.value === null) return undefined;
  return flagOf(part);
}

export function flagOf(part: Part): boolean {
  return typeof part.value === "boolean" ? part.value : refuse(part, "is neither true nor false");
}

/** A whole number that is exact. */
export function countOf(part: Part): number {
  return typeof part.value === "number" && Number.isSafeInteger(part.value) ? part.value : refuse(part, "is not an integer");
}

/** An id: a string, or a whole number as its decimal text. A number beyond 2^53 was rounded while it was read, so it is refused. */
export function idOf(part: Part): string {
  if (typeof part.value === "number" && Number.isInteger(part.value)) {
    return Number.isSafeInteger(part.value) ? String(part.value) : refuse(part, "is a number too large to be read exactly");
  }
  return part.value === "" ? refuse(part, "is an empty string") : textOf(part);
}

export function listOf(part: Part): readonly Part[] {
  if (!Array.isArray(part.value)) return refuse(part, "is not an array");
  return part.value.map((value: unknown, index) => ({ value, where: part.where, above: part, name: index }));
}

/** The answer to a read (interface §2.1). */
export interface Envelope {
  readonly top: Part;
  /** An object. */
  readonly data: Part;
}

/** @throws ServiceError E_MALFORMED_ANSWER where it is no envelope with an object as `data` */
export function openEnvelope(value: JsonValue, where: Where): Envelope {
  const top = { value, where, above: "" };
  optionalTextOf(memberOf(top, "code"));
  const data = memberOf(top, "data");
  objectOf(data);
  return { top, data };
}
