import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, own } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import { writeAtomic } from "../files/atomic.ts";
import { ensureStateFolder, stateFolder } from "../state-folder.ts";

// A database that was restored from a backup does not know the objects that were created since. This
// machine remembers the newest version that it saw, so it notices.

interface Store {
  readonly folder: string;
  readonly target: string;
  readonly id: string;
}

/**
 * Remembers the version. False if this machine has seen a newer one of the same store, which then stays
 * remembered. A folder that cannot be written only makes this check weaker.
 */
export async function rememberVersion(store: Store, version: string): Promise<boolean> {
  const seen = (await readSeen(store)) ?? 0n;
  if (BigInt(version) <= seen) return BigInt(version) === seen;
  try {
    await ensureStateFolder(store.folder);
    await writeAtomic(fileOf(store), `${JSON.stringify({ id: store.id, version })}\n`);
  } catch {
    // Reading records needs no permission to write.
  }
  return true;
}

async function readSeen(store: Store): Promise<bigint | undefined> {
  try {
    const value: unknown = parseJson(await readFile(fileOf(store), "utf8"));
    const version = isObject(value) && own(value, "id") === store.id ? own(value, "version") : undefined;
    return typeof version === "string" ? BigInt(version) : undefined;
  } catch {
    return undefined;
  }
}

const fileOf = ({ folder, target }: Store): string => join(stateFolder(folder), `records-${encodeURIComponent(target)}.json`);
