import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isObject, own } from "../../model/json/json.ts";
import { type RegisterRow, rowKey, stateText } from "../../model/register.ts";
import { appendLog, readLog } from "../../records/files/append-log.ts";
import type { CurrentRow } from "./rows.ts";

// What the register showed before. In one folder for a target, each integration has a file with a line for every run that
// found a change: the rows that are new or different, and the keys of those that are gone. `runs.ndjson` has a line for
// every run. So the folder grows with the changes, and one integration is in memory at a time.

/** The row of a remembered register. */
export type Remembered = ReadonlyMap<string, RegisterRow>;

interface Entry {
  readonly at: string;
  readonly set: readonly RegisterRow[];
  readonly gone: readonly string[];
}

/** The folder of a target. `folder`: that of the history. */
export const targetFolder = (folder: string, target: string): string => join(folder, fileName(target));

const fileName = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[*~'()!.]/gu, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
const runsFile = "runs.ndjson";

/** The rows of an integration with the time since which each has been so, and remembers them. `remember` false: nothing is written. */
export async function withHistory(
  folder: string,
  integrationId: string,
  { rows, at, remember }: { readonly rows: readonly CurrentRow[]; readonly at: string; readonly remember: boolean },
): Promise<readonly RegisterRow[]> {
  const file = join(folder, `${fileName(integrationId)}.ndjson`);
  const before = replay(await entriesOf(file), undefined);
  const after = rows.map((row): RegisterRow => sinceWhen(row, before.get(keyOf(row)), at));
  if (!remember) return after;
  const set = after.filter((row) => !isSame(before.get(rowKey(row)), row));
  const kept = new Set(after.map(rowKey));
  const gone = [...before.keys()].filter((key) => !kept.has(key));
  if (set.length > 0 || gone.length > 0) {
    await mkdir(folder, { recursive: true });
    await appendLog(file, { at, set, gone } satisfies Entry);
  }
  return after;
}

const keyOf = (row: CurrentRow): string => rowKey({ ...row, since: "", atLeast: true });

/** A change is dated by the run that finds it. A row that no earlier run has seen may have been so for longer. */
function sinceWhen(row: CurrentRow, before: RegisterRow | undefined, at: string): RegisterRow {
  if (before === undefined) return { ...row, since: at, atLeast: true };
  const isUnchanged = stateText(before) === stateText(row);
  return { ...row, ...(isUnchanged ? { since: before.since, atLeast: before.atLeast } : { since: at, atLeast: false }) };
}

const isSame = (before: RegisterRow | undefined, after: RegisterRow): boolean => JSON.stringify(before) === JSON.stringify(after);

/** Remembers that there was a run. Integrations that it did not find are gone. */
export async function rememberRun(folder: string, at: string, integrationIds: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const known = new Set(integrationIds.map((id) => `${fileName(id)}.ndjson`));
  for (const file of await integrationFiles(folder)) {
    if (known.has(file)) continue;
    const gone = [...replay(await entriesOf(join(folder, file)), undefined).keys()];
    if (gone.length > 0) await appendLog(join(folder, file), { at, set: [], gone } satisfies Entry);
  }
  await appendLog(join(folder, runsFile), { at });
}

/** When the register was made, oldest first. */
export async function runsIn(folder: string): Promise<readonly string[]> {
  const lines = await readLog(join(folder, runsFile));
  return "broken" in lines ? [] : lines.flatMap(({ entry }) => (typeof entry["at"] === "string" ? [entry["at"]] : []));
}

/** The remembered rows at a time, one integration after the other. */
export async function* rememberedAt(folder: string, at: string): AsyncGenerator<readonly RegisterRow[]> {
  for (const file of await integrationFiles(folder)) yield [...replay(await entriesOf(join(folder, file)), at).values()];
}

async function integrationFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => name.endsWith(".ndjson") && name !== runsFile).sort();
}

async function entriesOf(file: string): Promise<readonly Entry[]> {
  const lines = await readLog(file);
  if ("broken" in lines) throw new Error(`${file}: line ${lines.broken} is not JSON`);
  return lines.flatMap(({ entry }) => (isEntry(entry) ? [entry] : []));
}

const isEntry = (entry: unknown): entry is Entry =>
  isObject(entry) && typeof own(entry, "at") === "string" && Array.isArray(own(entry, "set")) && Array.isArray(own(entry, "gone"));

/** The rows after the entries up to a time; all entries if it is undefined. */
function replay(entries: readonly Entry[], at: string | undefined): Map<string, RegisterRow> {
  const rows = new Map<string, RegisterRow>();
  for (const entry of entries) {
    if (at !== undefined && Date.parse(entry.at) > Date.parse(at)) break;
    for (const key of entry.gone) rows.delete(key);
    for (const row of entry.set) rows.set(rowKey(row), row);
  }
  return rows;
}
