import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { byText, schemasKind, toAddress } from "../model/address.ts";
import { changeCount, eachChange, sizeOf } from "../model/changes.ts";
import { errorCode } from "../model/errors.ts";
import { canonicalJson, isObject, own } from "../model/json/json.ts";
import { parseJson } from "../model/json/parse.ts";
import { type Manual, type Origin, type Plan, unmanagedObjects } from "../model/plan.ts";
import { writeAtomic } from "../records/files/atomic.ts";
import { unmanagedCounts } from "../render/report/unmanaged.ts";

/** One report as the history keeps it: counts, a fingerprint and the open manual steps, but no values from the account. */
export interface HistoryEntry {
  readonly formatVersion: "1.0";
  readonly kind: "DriftHistory";
  /** ISO 8601: when the report was created. */
  readonly at: string;
  readonly target: string;
  readonly fingerprint: string;
  readonly complete: boolean;
  readonly exit: number;
  readonly counts: HistoryCounts;
  /** Differences per origin, manual ones included. */
  readonly origins: Readonly<Record<Origin, number>>;
  readonly manual: readonly OpenStep[];
  /** Fingerprint of the last report that the webhook was notified of; absent if there is none. */
  readonly notified?: string;
}

export interface HistoryCounts {
  /** Leaves that a request could fix, and missing objects. */
  readonly differences: number;
  /** Leaves that are less protected than declared. */
  readonly exposed: number;
  readonly manual: number;
  readonly blocked: number;
  readonly policy: number;
  /** Integrations and tags that no manifest covers. */
  readonly unmanaged: number;
  /** Columns of managed integrations that nothing covers. Absent in entries of older versions. */
  readonly unmanagedColumns?: number;
}

/** A manual step, as later reports recognise it. */
export type OpenStep = Pick<Manual, "id" | "address" | "path" | "instruction">;

export function historyEntry(report: Plan): HistoryEntry {
  const items = report.items.filter(({ action }) => action !== "bind");
  const origins: Record<Origin, number> = { config: 0, drift: 0, conflict: 0, unknown: 0 };
  for (const { origin } of report.manual) origins[origin ?? "unknown"] += 1;
  for (const item of items) for (const entry of item.changes) origins[entry.origin ?? "unknown"] += sizeOf(entry);
  return {
    formatVersion: "1.0",
    kind: "DriftHistory",
    at: report.createdAt,
    target: report.target,
    fingerprint: fingerprintOf(report),
    complete: report.complete,
    exit: report.exit.code,
    counts: {
      differences: items.reduce((sum, item) => sum + (item.action === "create" ? 1 : Math.max(1, changeCount(item))), 0),
      exposed: report.summary.exposed ?? 0,
      manual: report.manual.length,
      blocked: report.blocked.length,
      policy: report.policy.length,
      unmanaged: unmanagedCounts(report.unmanaged).objects,
      unmanagedColumns: unmanagedCounts(report.unmanaged).columns,
    },
    origins,
    manual: report.manual.map(({ id, address, path, instruction }) => ({ id, address, path, instruction })),
  };
}

const fileName = /^drift-\d{8}T\d{9}Z-.+\.json$/u;

/** "drift-20260301T090000000Z-prod.json": sorts by time, and is safe for any target name. */
export function historyFileName({ at, target }: Pick<HistoryEntry, "at" | "target">): string {
  const name = encodeURIComponent(target)
    .replaceAll(/[*~'()!]/gu, "_")
    .slice(0, 80);
  return `drift-${new Date(at).toISOString().replaceAll(/[-:.]/gu, "")}-${name}.json`;
}

/** Adds the report to the folder, which is created if missing, and returns the file. Throws system errors. */
export async function appendHistory(folder: string, entry: HistoryEntry): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, historyFileName(entry));
  await writeAtomic(file, `${JSON.stringify(entry, undefined, 2)}\n`);
  return file;
}

/**
 * The newest entries of the target in the folder, at most `limit`, oldest first. Other files are
 * ignored; files with the name of an entry that are not valid entries are in `unread`. A missing
 * folder is empty.
 */
export async function readHistory(
  folder: string,
  target: string,
  limit = 400,
): Promise<{ readonly entries: readonly HistoryEntry[]; readonly unread: readonly string[] }> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  const entries: HistoryEntry[] = [];
  const unread: string[] = [];
  for (const name of names.filter((each) => fileName.test(each)).sort((a, b) => byText(b, a))) {
    if (entries.length >= limit) break;
    const entry = parseEntry(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (entry === undefined) unread.push(name);
    else if (entry.target === target) entries.push(entry);
  }
  return { entries: entries.sort((a, b) => Date.parse(a.at) - Date.parse(b.at)), unread };
}

/** The steps of the earlier report that the later one no longer lists. Steps out of scope, and all steps of an incomplete report, do not count. */
export function stepsDone(
  before: HistoryEntry | undefined,
  report: Plan,
  inScope: (address: string) => boolean = () => true,
): readonly OpenStep[] {
  if (before === undefined || !report.complete) return [];
  const placeOf = ({ address, path }: Pick<OpenStep, "address" | "path">): string => JSON.stringify([address, path]);
  const open = new Set(report.manual.map(placeOf));
  return before.manual.filter((step) => !open.has(placeOf(step)) && inScope(step.address));
}

function parseEntry(text: string): HistoryEntry | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isEntry(value)) return undefined;
  // Earlier versions wrote SchemaConfig/shops@orders.
  const renamed = (address: string): string => address.replace(/^SchemaConfig\/[^@/]+@/u, toAddress(schemasKind, ""));
  return { ...value, manual: value.manual.map((step) => ({ ...step, address: renamed(step.address) })) };
}

const isText = (value: unknown): value is string => typeof value === "string";

function hasNumbers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Number.isSafeInteger(own(value, name)));
}

const isOpenStep = (step: unknown): boolean =>
  isObject(step) && ["id", "address", "path", "instruction"].every((name) => isText(own(step, name)));

/** Checks every member that is used. */
function isEntry(value: unknown): value is HistoryEntry {
  if (!isObject(value) || own(value, "kind") !== "DriftHistory" || own(value, "formatVersion") !== "1.0") return false;
  const { at, target, fingerprint, counts, origins, manual, notified } = value;
  return (
    isText(at) &&
    !Number.isNaN(Date.parse(at)) &&
    [target, fingerprint].every(isText) &&
    (notified === undefined || isText(notified)) &&
    hasNumbers(counts, ["differences", "exposed", "manual", "blocked", "policy", "unmanaged"]) &&
    hasNumbers(origins, ["config", "drift", "conflict", "unknown"]) &&
    Array.isArray(manual) &&
    manual.every(isOpenStep)
  );
}

/**
 * "sha256:…" of the differences: addresses, paths and values, in any order. Times, attribution and
 * the number of unmanaged columns do not count, because sources add columns all the time.
 */
export function fingerprintOf(report: Plan): string {
  const facts = [
    ...report.items
      .filter(({ action }) => action !== "bind")
      .flatMap((item) => [
        ["item", item.address, item.action],
        ...Array.from(eachChange(item), ({ path, before, after }) => ["change", item.address, path, before ?? null, after ?? null]),
      ]),
    ...report.manual.map(({ id, expected, actual }) => ["manual", id, expected ?? null, actual ?? null]),
    ...report.blocked.map(({ address, code }) => ["blocked", address, code]),
    ...report.deferred.map(({ address }) => ["deferred", address]),
    ...[...unmanagedObjects(report.unmanaged).values()].flat().map(({ id }) => ["unmanaged", id]),
    ...report.policy.map(({ policy, severity, address, path }) => ["policy", policy, severity, address, path]),
    ["complete", report.complete],
  ];
  const hash = createHash("sha256");
  for (const fact of facts.map((each) => canonicalJson(each)).sort(byText)) hash.update(fact).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
