import type { SeenColumns } from "../model/columns.ts";
import { isObject, own } from "../model/json/json.ts";
import { parseJson, whyNotJson } from "../model/json/parse.ts";
import type { AppliedPlan, UnlockedRun } from "./records.ts";

// What the stores keep as JSON, and how it is read.

/** A part of the records is not valid. The message is a clause that says which one, and why. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** The value of a text from a store. `what` names it. Throws ContentError. */
export function parseStored(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ContentError(`${what} ${whyNotJson(error, "is not valid JSON")}`, { cause: error });
  }
}

/** The first application of a saved plan; undefined if the value names no plan. */
export function parseAppliedPlan(value: unknown): AppliedPlan | undefined {
  const [planId, runId, at] = isObject(value) ? [own(value, "planId"), own(value, "runId"), own(value, "at")] : [];
  return typeof planId === "string" ? { planId, runId: String(runId), at: String(at) } : undefined;
}

/** A run whose lease was ended early; undefined if the value has another form. */
export function parseUnlockedRun(value: unknown): UnlockedRun | undefined {
  if (!isObject(value)) return undefined;
  const [runId, at, graceMs] = [own(value, "runId"), own(value, "at"), own(value, "graceMs")];
  return typeof runId === "string" && typeof at === "string" && typeof graceMs === "number" ? { runId, at, graceMs } : undefined;
}

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

/** The commit whose manifests the account matched when an apply ended: nothing failed, waited or was left out. */
export interface AppliedCommit {
  /** Its full id. */
  readonly commit: string;
  /** Of the manifests with the variables of that run. */
  readonly manifestDigest: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly at: string;
}

/** The commit in a value from a store; undefined if it has another form. Without it, a plan does not know what changed in the account. */
export function parseAppliedCommit(value: unknown): AppliedCommit | undefined {
  if (!isObject(value)) return undefined;
  const [commit, manifestDigest, runId, at] = [own(value, "commit"), own(value, "manifestDigest"), own(value, "runId"), own(value, "at")];
  // It becomes an argument of git.
  if (typeof commit !== "string" || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(commit)) return undefined;
  return typeof manifestDigest === "string" && typeof runId === "string" && typeof at === "string"
    ? { commit, manifestDigest, runId, at }
    : undefined;
}
