import type { AccountView } from "../kinds/kind.ts";
import type { Project } from "../manifests/project.ts";
import type { RecordsState } from "../records/records.ts";
import type { RunReads } from "./cached-reads.ts";
import { ignoring } from "./ignore.ts";
import { observeAccount } from "./observe.ts";

/**
 * The whole account: every list, whether or not a manifest needs it, and each manifest's live
 * object. `today` is a day, YYYY-MM-DD. `suspicions` are sentences about lists that may be
 * incomplete. Throws ServiceError.
 */
export async function readAccount(
  { resources, settings }: Project,
  { bindings, longestSeen }: Pick<RecordsState, "bindings" | "longestSeen">,
  { reads, today }: { readonly reads: RunReads; readonly today: string },
): Promise<{ readonly account: AccountView; readonly suspicions: readonly string[] }> {
  const [integrations, tags, users] = await Promise.all([reads.integrations(), reads.tags(), reads.users()]);
  const { world, suspicions } = await observeAccount({
    resources,
    compared: resources,
    bindings,
    recovered: new Map(),
    fresh: new Set(),
    reads,
    taggedBy: settings.defaults.taggedBy,
    writeSecrets: () => false,
    ignored: ignoring(settings.ignore, today).ignored,
    longestSeen,
    alsoNeeded: ["integrations", "tags", "users"],
  });
  const account = {
    ...world,
    integrations: joined(world.integrations, integrations.items),
    tags: joined(world.tags, tags.items),
    users: users.items,
  };
  return { account, suspicions };
}

/** The account's tags with what they are attached to, which only GET of one tag returns. */
export const readTags = (reads: RunReads, { tags }: AccountView): Promise<AccountView["tags"]> =>
  Promise.all(tags.map(async (tag) => (await reads.tag(tag.id)) ?? tag));

/** The list, and the objects that only a read by id returned. */
function joined<T extends { readonly id: string }>(known: readonly T[], listed: readonly T[]): readonly T[] {
  return [...listed, ...known.filter(({ id }) => !listed.some((one) => one.id === id))];
}
