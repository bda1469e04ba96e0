import { isObject, own } from "../../model/json/json.ts";
import { parseJson, whyNotJson } from "../../model/json/parse.ts";
import { parseAppliedCommit } from "../applied-commit.ts";
import { parseBindingsText, readTarget } from "../bindings-text.ts";
import { parseSeenColumns } from "../columns-seen.ts";
import { emptyState, type Fact, toFact, withFacts } from "../facts.ts";
import { parseJournalLine } from "../journal-line.ts";
import { type ListLengths, parseListLengths } from "../list-lengths.ts";
import { holderText, toHolder } from "../process-identity.ts";
import type { AppliedPlan, Lease, RecordsState, UnlockedRun } from "../records.ts";
import type { Content } from "../shared/store.ts";
import { segmentsIn } from "./segments.ts";
import type { Files } from "./tree.ts";

// The files of a commit:
//   format              version of this layout
//   id                  identity of the store, made by `records init`
//   epoch               how often the lease was taken
//   lease.json          who holds the lease; absent if it is free
//   bindings.yaml       in the form of the bindings file
//   journal/000012.ndjson  64 lines each, in the form of the journal (segments.ts)
//   applied.ndjson      saved plans that were applied
//   lists.json          the greatest length of each list
//   columns.json        the columns that runs have seen, if the project reviews columns
//   commit.json         the commit that was applied last
//   unlocked.json       runs whose lease was ended early
//   seal                HMAC over the parent and the other entries (tree.ts)

export const supportedFormat = "1";

/** The content of the files of one commit. */
export interface GitContent extends Content {
  readonly id: string;
}

/** A file is not valid. The message is a clause that says which one, and why. */
export class ContentError extends Error {
  override readonly name = "ContentError";
}

/** Reads the files of a commit. Throws ContentError, and what `parseBindingsText` throws. */
export function decodeContent(files: Files, target: string, commit: string): GitContent {
  const format = files.get("format")?.trim();
  if (format === undefined) throw new ContentError("it has no file `format`, so dimsync did not write it");
  if (format !== supportedFormat)
    throw new ContentError(
      `its format is ${format.slice(0, 20)}, and this version of dimsync reads format ${supportedFormat}; use a newer version`,
    );
  const bindings = files.get("bindings.yaml");
  const base: RecordsState = {
    ...emptyState,
    version: commit,
    bindings: bindings === undefined ? new Map() : readTarget(parseBindingsText(bindings, "bindings.yaml"), target),
    longestSeen: listsIn(files),
    ...columnsIn(files),
    ...commitIn(files),
    unlocked: listOf(files, "unlocked.json", toUnlocked),
  };
  return {
    id: files.get("id")?.trim() ?? "",
    epoch: Number(files.get("epoch") ?? 0),
    lease: leaseIn(files),
    state: withFacts(base, journalIn(files)),
    applied: new Map(
      linesOf(files, "applied.ndjson")
        .map((line, index) => toApplied(line, index + 1))
        .map((plan) => [plan.planId, plan]),
    ),
  };
}

function journalIn(files: Files): readonly Fact[] {
  return segmentsIn(files).flatMap(({ path }) =>
    linesOf(files, path).map((value, index): Fact => {
      const line = isObject(value) ? parseJournalLine(value) : undefined;
      if (line === undefined) throw new ContentError(`${path}:${index + 1} is not an entry that this version of dimsync can read`);
      return toFact(line);
    }),
  );
}

function linesOf(files: Files, path: string): readonly unknown[] {
  const lines = (files.get(path) ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line, index) => parsed(line, `${path}:${index + 1}`));
}

function parsed(text: string, where: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ContentError(`${where} ${whyNotJson(error, "is not valid JSON")}`, { cause: error });
  }
}

function toApplied(value: unknown, line: number): AppliedPlan {
  const [planId, runId, at] = isObject(value) ? [own(value, "planId"), own(value, "runId"), own(value, "at")] : [];
  if (typeof planId !== "string") throw new ContentError(`applied.ndjson:${line} has no planId`);
  return { planId, runId: String(runId), at: String(at) };
}

function listsIn(files: Files): ListLengths {
  const text = files.get("lists.json");
  return text === undefined ? {} : parseListLengths(parsed(text, "lists.json"));
}

/** Written by this version only, or not used: without them, no column has a date. */
function columnsIn(files: Files): Pick<RecordsState, "columnsSeen"> {
  const text = files.get("columns.json");
  const columnsSeen = text === undefined ? undefined : parseSeenColumns(parsed(text, "columns.json"));
  return columnsSeen === undefined ? {} : { columnsSeen };
}

function commitIn(files: Files): Pick<RecordsState, "appliedCommit"> {
  const text = files.get("commit.json");
  const appliedCommit = text === undefined ? undefined : parseAppliedCommit(parsed(text, "commit.json"));
  return appliedCommit === undefined ? {} : { appliedCommit };
}

function listOf<T>(files: Files, path: string, read: (entry: unknown) => T | undefined): readonly T[] {
  const text = files.get(path);
  const value = text === undefined ? [] : parsed(text, path);
  if (!Array.isArray(value)) throw new ContentError(`${path} must contain a list`);
  return value.map((entry: unknown) => {
    const found = read(entry);
    if (found === undefined) throw new ContentError(`${path} contains an entry that this version of dimsync does not know`);
    return found;
  });
}

function toUnlocked(value: unknown): UnlockedRun | undefined {
  if (!isObject(value)) return undefined;
  const [runId, at, graceMs] = [own(value, "runId"), own(value, "at"), own(value, "graceMs")];
  return typeof runId === "string" && typeof at === "string" && typeof graceMs === "number" ? { runId, at, graceMs } : undefined;
}

function leaseIn(files: Files): Lease | undefined {
  const text = files.get("lease.json");
  if (text === undefined) return undefined;
  const value = parsed(text, "lease.json");
  const member = (key: string): string | undefined => {
    const found = isObject(value) ? own(value, key) : undefined;
    return typeof found === "string" ? found : undefined;
  };
  const count = (key: string): number => {
    const found = isObject(value) ? own(value, key) : undefined;
    if (typeof found !== "number" || !(found >= 0)) throw new ContentError(`lease.json: \`${key}\` must be a number`);
    return found;
  };
  const [token, runId, process] = [member("token"), member("runId"), toHolder(isObject(value) ? own(value, "process") : undefined)];
  if (token === undefined || runId === undefined) throw new ContentError("lease.json has no run");
  return {
    token,
    runId,
    runUrl: member("runUrl"),
    since: member("since") ?? "",
    ttlMs: count("ttlMs"),
    epoch: count("epoch"),
    reason: member("reason"),
    until: member("until"),
    holder: holderText(process),
    process,
  };
}
