import { ServiceError } from "../model/errors.ts";
import type { Pointer } from "../model/pointer.ts";

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
