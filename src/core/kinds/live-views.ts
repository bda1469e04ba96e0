import type { List } from "../model/service.ts";
import { itemKindOf, kinds } from "./index.ts";
import type { LiveView } from "./kind.ts";
import { users } from "./lists.ts";

/** Live objects that `get` prints, and the list that has them. */
export type View = LiveView & { readonly list?: List };

/** Users have no manifests, so they are not a kind. */
const usersView: View = {
  list: users,
  // The service has no request for a single user, so it is looked up in the list, by id or e-mail address.
  one: {
    read: async (id, reads) => {
      const { items } = await reads.list(users);
      return items.find((user) => user.id === id) ?? items.find(({ email }) => email.toLowerCase() === id.toLowerCase());
    },
  },
  columns: ["id", "email", "name", "createdAt"],
};

export const views: Readonly<Record<string, View>> = Object.fromEntries([
  ...kinds.flatMap((kind) => {
    const { liveView, list } = kind;
    return liveView === undefined ? [] : [[itemKindOf(kind), { ...liveView, ...(list === undefined ? {} : { list }) }] as const];
  }),
  ["User", usersView],
]);

/** The kinds that `get` knows. */
export const liveKinds: readonly string[] = Object.keys(views);
