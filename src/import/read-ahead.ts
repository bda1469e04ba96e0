/** What was read for an item, or why it could not be. */
export type ReadAhead<Item, Read> = { readonly item: Item; readonly read: Read } | { readonly item: Item; readonly error: unknown };

/** Reads for each item, in the order of the items, at most `ahead` further ones at a time: no more than those are ever held. */
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
