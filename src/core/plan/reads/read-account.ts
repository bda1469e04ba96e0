import type { List, Listed, Reads } from "../../base/model/service.ts";
import type { Account } from "../../kinds/index.ts";
import { lists } from "../../kinds/index.ts";
import type { Project } from "../../manifests/index.ts";
import { type KnownRecords, observeAccount } from "../observe-account.ts";
import { ignoring } from "../scope.ts";
import type { RunReads } from "./cached-reads.ts";

/**
 * The whole account: every list, whether or not a manifest needs it, and each manifest's live
 * object. `today` is a day, YYYY-MM-DD. `suspicions` are sentences about lists that may be
 * incomplete. Throws ServiceError.
 */
export async function readAccount(
  project: Project,
  records: KnownRecords,
  { reads, today }: { readonly reads: RunReads; readonly today: string },
): Promise<{ readonly account: Account; readonly suspicions: readonly string[] }> {
  const { manifests, settings } = project;
  // A list that can't be read ends the command here; observeAccount would only report it.
  await Promise.all(lists.map((list) => reads.list(list)));
  const account = await observeAccount({
    project,
    comparable: manifests,
    records,
    reads,
    ignored: ignoring(settings.ignore, today).ignored,
    alsoNeeded: lists,
  });
  return { account, suspicions: account.suspicions.map(({ why }) => why) };
}

/** The objects with what only GET of a single one returns; `hasDetails`: also what only some services show of one. */
export const readWhole = <T extends Listed>(
  reads: Reads,
  { list, items, hasDetails = false }: { readonly list: List<T>; readonly items: readonly T[]; readonly hasDetails?: boolean },
): Promise<readonly T[]> =>
  Promise.all(
    list.brief === undefined && !(hasDetails && list.details !== undefined)
      ? items
      : items.map(async (item) => (await reads.one(list, item.id)) ?? item),
  );

/**
 * Reads for each item, in order, at most `ahead` items before the one in use: no more results are held in memory. Throws what
 * `read` throws when it is the turn of its item.
 */
export async function* readAhead<Item, Read>(
  items: readonly Item[],
  read: (item: Item) => Promise<Read>,
  ahead = 4,
): AsyncGenerator<{ readonly item: Item; readonly read: Read }> {
  const rest = [...items];
  const started: { readonly item: Item; readonly reading: Promise<Read> }[] = [];
  for (;;) {
    for (const item of rest.splice(0, ahead + 1 - started.length)) {
      const reading = read(item);
      reading.catch(() => {});
      started.push({ item, reading });
    }
    const next = started.shift();
    if (next === undefined) return;
    yield { item: next.item, read: await next.reading };
  }
}
