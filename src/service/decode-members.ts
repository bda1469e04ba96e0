import { isObject, own } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import { malformed, type Where } from "./malformed.ts";

/** A part of an answer under decoding: the value, and where it stands, for the error. */
export interface Part {
  readonly value: unknown;
  readonly where: Where;
  readonly pointer: Pointer;
}

export type Members = Readonly<Record<string, unknown>>;

/** A part as an object, with its members. @throws ServiceError E_MALFORMED_ANSWER, as every function here */
export function objectOf(part: Part): Members {
  if (!isObject(part.value)) throw malformed(part.where, part.pointer, "is not an object");
  return part.value;
}

/** One member of a part that is an object. */
export function memberOf(part: Part, name: string): Part {
  return { value: own(objectOf(part), name), where: part.where, pointer: `${part.pointer}${toPointer([name])}` };
}

export function textOf(part: Part): string {
  if (typeof part.value !== "string") throw malformed(part.where, part.pointer, "is not a string");
  return part.value;
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
  if (typeof part.value !== "boolean") throw malformed(part.where, part.pointer, "is neither true nor false");
  return part.value;
}

/** An id: a string, or a whole number as its decimal text. A number beyond 2^53 was rounded while it was read, so it is refused. */
export function idOf(part: Part): string {
  if (typeof part.value === "number" && Number.isInteger(part.value)) {
    if (Number.isSafeInteger(part.value)) return String(part.value);
    throw malformed(part.where, part.pointer, "is a number too large to be read exactly");
  }
  if (part.value === "") throw malformed(part.where, part.pointer, "is an empty string");
  return textOf(part);
}

export function listOf(part: Part): readonly Part[] {
  if (!Array.isArray(part.value)) throw malformed(part.where, part.pointer, "is not an array");
  return part.value.map((value: unknown, index) => ({ value, where: part.where, pointer: `${part.pointer}/${index}` }));
}
