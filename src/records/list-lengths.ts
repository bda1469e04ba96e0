import { isObject } from "../model/json/json.ts";

/**
 * The smallest possible page size of a list, by list name ("integrations"): earlier runs received that
 * many entries, or a user confirmed that a list with one entry less was complete. A shorter list cannot
 * be cut off by paging.
 */
export type ListLengths = Readonly<Record<string, number>>;

/** The lengths in a value from a store. Without them, a list is suspicious again. */
export const parseListLengths = (value: unknown): ListLengths =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
  );
