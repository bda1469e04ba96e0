import type { JsonValue } from "../model/json.ts";
import { memberOf, objectOf, optionalTextOf, type Part } from "./decode-members.ts";
import type { Where } from "./malformed.ts";

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
