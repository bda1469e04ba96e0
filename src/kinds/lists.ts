import { idOf, memberOf, optionalFlagOf, optionalTextOf, type Part, textOf } from "../model/decode.ts";
import type { LiveIntegration, LiveReference, LiveUser } from "../model/live.ts";
import type { List } from "../model/service.ts";

// The lists that several kinds need. Decoders throw ServiceError E_MALFORMED_ANSWER.

/** docs/service-interface.md#integrations */
export const integrations: List<LiveIntegration> = {
  name: "integrations",
  decode: decodeIntegration,
  one: (data) => decodeIntegration(memberOf(data, "integration")),
  isCreated: true,
};

/** docs/service-interface.md#users */
export const users: List<LiveUser> = {
  name: "users",
  decode: (part) => ({
    id: idOf(memberOf(part, "id")),
    email: textOf(memberOf(part, "email")),
    name: optionalTextOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
  }),
};

function decodeIntegration(part: Part): LiveIntegration {
  return {
    id: idOf(memberOf(part, "id")),
    name: textOf(memberOf(part, "name")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
    paused: optionalFlagOf(memberOf(part, "paused")),
    source: decodeReference(memberOf(part, "source")),
    destination: decodeReference(memberOf(part, "destination")),
  };
}

function decodeReference(part: Part): LiveReference {
  return { id: idOf(memberOf(part, "id")), name: textOf(memberOf(part, "name")), type: textOf(memberOf(part, "type")) };
}
