import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, own } from "../model/json/json.ts";
import { parseJson } from "../model/json/parse.ts";
import { writeAtomic } from "./files/atomic.ts";
import { withFileLock } from "./files/file-lock.ts";
import { ensureStateFolder, stateFolder } from "./state-folder.ts";

/** The files of the folder store with one value for each target. Nothing depends on them that could do harm, so one that cannot be understood counts as absent. */
export type TargetFile = "lists.json" | "columns.json" | "commits.json";

/** The value of the target. Undefined if there is none, and if the file cannot be understood. */
export async function readOfTarget(folder: string, name: TargetFile, target: string): Promise<unknown> {
  return own(await readAll(folder, name), target);
}

/** Replaces the value of the target, also while a run of another target does so. Throws what Node's calls throw. */
export async function writeOfTarget(folder: string, name: TargetFile, { target, value }: TargetValue): Promise<void> {
  await ensureStateFolder(folder);
  const file = join(stateFolder(folder), name);
  await withFileLock(`${file}.lock`, async () => {
    const others = Object.entries(await readAll(folder, name)).filter(([other]) => other !== target);
    await writeAtomic(file, `${JSON.stringify(Object.fromEntries([...others, [target, value]]))}\n`);
  });
}

interface TargetValue {
  readonly target: string;
  readonly value: unknown;
}

async function readAll(folder: string, name: TargetFile): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = parseJson(await readFile(join(stateFolder(folder), name), "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
