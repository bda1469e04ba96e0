import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SeenColumns } from "../model/columns.ts";
import { isObject, own } from "../model/json/json.ts";
import { parseJson } from "../model/json/parse.ts";
import { writeAtomic } from "./files/atomic.ts";
import { ensureStateFolder, stateFolder } from "./state-folder.ts";

/**
 * The columns that runs have seen, in a value from a store; undefined if it has another form. Without
 * them, new columns have no date, so nothing depends on them that could do harm.
 */
export function parseSeenColumns(value: unknown): SeenColumns | undefined {
  if (!isObject(value)) return undefined;
  const [at, groups] = [own(value, "at"), own(value, "groups")];
  return typeof at === "string" && Array.isArray(groups) && groups.every(isGroup) ? { at, groups } : undefined;
}

function isGroup(value: unknown): value is SeenColumns["groups"][number] {
  if (!isObject(value)) return false;
  const [integrations, after, schemas] = [own(value, "integrations"), own(value, "after"), own(value, "schemas")];
  const isDated = after === undefined || typeof after === "string";
  const areTables =
    isObject(schemas) && Object.values(schemas).every((tables) => isObject(tables) && Object.values(tables).every(areNames));
  return areNames(integrations) && isDated && areTables;
}

const areNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

const fileOf = (folder: string): string => join(stateFolder(folder), "columns.json");

/** What earlier runs on this machine saw. Undefined if the file is missing or cannot be understood. */
export async function readColumnsSeen(folder: string, target: string): Promise<SeenColumns | undefined> {
  return parseSeenColumns(own(await readAll(folder), target));
}

/** Call it under the target's lock. Throws what Node's calls throw. */
export async function recordColumnsSeen(folder: string, target: string, seen: SeenColumns): Promise<void> {
  const others = Object.entries(await readAll(folder)).filter(([name]) => name !== target);
  await ensureStateFolder(folder);
  await writeAtomic(fileOf(folder), `${JSON.stringify(Object.fromEntries([...others, [target, seen]]))}\n`);
}

async function readAll(folder: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = parseJson(await readFile(fileOf(folder), "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
