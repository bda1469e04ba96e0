import { lists } from "../../kinds/index.ts";
import type { AccountView } from "../../kinds/kind.ts";
import type { Project } from "../../manifests/project.ts";
import type { List, Listed, Reads } from "../../model/service.ts";
import { type KnownRecords, observeAccount } from "../observe.ts";
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
): Promise<{ readonly account: AccountView; readonly suspicions: readonly string[] }> {
  const { resources, settings } = project;
  // A list that can't be read ends the command here; observeAccount would only report it.
  await Promise.all(lists.map((list) => reads.list(list)));
  const { account, suspicions } = await observeAccount({
    project,
    compared: resources,
    records,
    reads,
    ignored: ignoring(settings.ignore, today).ignored,
    alsoNeeded: lists,
  });
  return { account, suspicions };
}

/** The objects with what only GET of a single one returns. */
export const readWhole = <T extends Listed>(reads: Reads, list: List<T>, items: readonly T[]): Promise<readonly T[]> =>
  Promise.all(list.brief === undefined ? items : items.map(async (item) => (await reads.one(list, item.id)) ?? item));

/** The result of reading for an item, or why the read failed. */
export type ReadAhead<Item, Read> = { readonly item: Item; readonly read: Read } | { readonly item: Item; readonly error: unknown };

/** Reads for each item, in order, at most `ahead` items before the one in use: no more results are held in memory. */
export async function* readAhead<Item, Read>(
  items: readonly Item[],
  ahead: number,
  read: (item: Item) => Promise<Read>,
): AsyncGenerator<ReadAhead<Item, Read>> {
  const pending = new Map<number, Promise<ReadAhead<Item, Read>>>();
  const start = (index: number): void => {
    const item = items[index];
    if (item === undefined) return;
    const outcome = read(item).then(
      (value) => ({ item, read: value }),
      (error: unknown) => ({ item, error }),
    );
    pending.set(index, outcome);
  };
  for (let index = 0; index < ahead; index++) start(index);
  for (let index = 0; index < items.length; index++) {
    start(index + ahead);
    const outcome = await pending.get(index);
    pending.delete(index);
    if (outcome !== undefined) yield outcome;
  }
}
