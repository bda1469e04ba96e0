import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, own } from "../model/json/json.ts";
import { parseJson } from "../model/json/parse.ts";
import { writeAtomic } from "./files/atomic.ts";
import { ensureStateFolder, stateFolder } from "./state-folder.ts";

/**
 * The smallest possible page size of a list, by list name ("integrations"): earlier runs received that
 * many entries, or a user confirmed that a list with one entry less was complete. A shorter list cannot
 * be cut off by paging.
 */
export type ListLengths = Readonly<Record<string, number>>;

const fileOf = (folder: string): string => join(stateFolder(folder), "lists.json");

/** What earlier runs on this machine saw of the target's lists. Empty if the file is missing or cannot be understood: a list is then suspicious again. */
export async function readListLengths(folder: string, target: string): Promise<ListLengths> {
  return own(await readAll(folder), target) ?? {};
}

/**
 * Keeps the larger of the known and the new length. Call it under the target's lock. Throws what
 * Node's calls throw.
 */
export async function recordListLengths(folder: string, target: string, seen: ListLengths): Promise<void> {
  const all = await readAll(folder);
  const known = own(all, target) ?? {};
  const names = [...new Set([...Object.keys(known), ...Object.keys(seen)])].sort();
  const merged = Object.fromEntries(names.map((name) => [name, Math.max(own(known, name) ?? 0, own(seen, name) ?? 0)]));
  if (names.every((name) => own(known, name) === merged[name])) return;
  await ensureStateFolder(folder);
  const text = JSON.stringify(
    Object.fromEntries([...Object.entries(all).filter(([name]) => name !== target), [target, merged]]),
    undefined,
    2,
  );
  await writeAtomic(fileOf(folder), `${text}\n`);
}

async function readAll(folder: string): Promise<Readonly<Record<string, ListLengths>>> {
  let value: unknown;
  try {
    value = parseJson(await readFile(fileOf(folder), "utf8"));
  } catch {
    return {};
  }
  if (!isObject(value)) return {};
  const entries = Object.entries(value).map(([target, lists]): [string, ListLengths] => [
    target,
    Object.fromEntries(
      Object.entries(isObject(lists) ? lists : {}).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])),
    ),
  ]);
  return Object.fromEntries(entries);
}
