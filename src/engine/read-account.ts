import type { AccountView } from "../kinds/kind.ts";
import type { Project } from "../manifests/project.ts";
import type { RunReads } from "./cached-reads.ts";
import { ignoring } from "./ignore.ts";
import { type KnownRecords, observeAccount } from "./observe.ts";

/**
 * The whole account: every list, whether or not a manifest needs it, and each manifest's live
 * object. `today` is a day, YYYY-MM-DD. `suspicions` are sentences about lists that may be
 * incomplete. Throws ServiceError.
 */
export async function readAccount(
  project: Project,
  records: KnownRecords,
  { reads, today }: { readonly reads: RunReads; readonly today: string },
): Promise<{ readonly account: AccountView; readonly suspicions: readonly string[] }> {
  const { resources, settings } = project;
  // A list that can't be read ends the command here; observeAccount would only report it.
  await Promise.all([reads.integrations(), reads.tags(), reads.users()]);
  const { account, suspicions } = await observeAccount({
    project,
    compared: resources,
    records,
    reads,
    ignored: ignoring(settings.ignore, today).ignored,
    alsoNeeded: ["integrations", "tags", "users"],
  });
  return { account, suspicions };
}

/** The account's tags with what they are attached to, which only GET of one tag returns. */
export const readTags = (reads: RunReads, { tags }: AccountView): Promise<AccountView["tags"]> =>
  Promise.all(tags.map(async (tag) => (await reads.tag(tag.id)) ?? tag));
