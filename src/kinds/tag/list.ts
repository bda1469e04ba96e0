import { idOf, listOf, memberOf, optionalTextOf, type Part, textOf } from "../../model/decode.ts";
import type { LiveTag } from "../../model/live.ts";
import type { List } from "../../model/service.ts";

/** docs/service-interface.md#tags */
export const tags: List<LiveTag> = {
  name: "tags",
  decode: decodeTag,
  one: decodeTag,
  brief: ({ taggedResources: _, ...tag }) => tag,
};

/** `taggedResources` is absent if the response has none. */
function decodeTag(part: Part): LiveTag {
  const resources = memberOf(part, "taggedResources");
  return {
    id: idOf(memberOf(part, "id")),
    name: textOf(memberOf(part, "name")),
    description: optionalTextOf(memberOf(part, "description")),
    owner: optionalTextOf(memberOf(part, "owner")),
    origin: optionalTextOf(memberOf(part, "origin")),
    createdAt: optionalTextOf(memberOf(part, "createdAt")),
    lastUpdatedAt: optionalTextOf(memberOf(part, "lastUpdatedAt")),
    ...(resources.value === undefined || resources.value === null
      ? {}
      : { taggedResources: listOf(resources).map((resource) => ({ id: idOf(memberOf(resource, "id")) })) }),
  };
}
