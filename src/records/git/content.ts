import { isObject, own } from "../../model/json/json.ts";
import { parseBindingsText, readTarget } from "../bindings-text.ts";
import { emptyState, type Fact, toFact, withFacts } from "../facts.ts";
import { parseJournalLine } from "../journal-line.ts";
import { holderText, toHolder } from "../process-identity.ts";
import type { AppliedPlan, Lease, RecordsState, UnlockedRun } from "../records.ts";
import type { Content } from "../shared/store.ts";
import {
  ContentError,
  type ListLengths,
  parseAppliedCommit,
  parseAppliedPlan,
  parseListLengths,
  parseSeenColumns,
  parseStored,
  parseUnlockedRun,
} from "../stored-values.ts";
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
    unlocked: unlockedIn(files),
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
  return lines.map((line, index) => parseStored(line, `${path}:${index + 1}`));
}

function toApplied(value: unknown, line: number): AppliedPlan {
  const plan = parseAppliedPlan(value);
  if (plan === undefined) throw new ContentError(`applied.ndjson:${line} has no planId`);
  return plan;
}

function listsIn(files: Files): ListLengths {
  const text = files.get("lists.json");
  return text === undefined ? {} : parseListLengths(parseStored(text, "lists.json"));
}

/** Written by this version only, or not used: without them, no column has a date. */
function columnsIn(files: Files): Pick<RecordsState, "columnsSeen"> {
  const text = files.get("columns.json");
  const columnsSeen = text === undefined ? undefined : parseSeenColumns(parseStored(text, "columns.json"));
  return columnsSeen === undefined ? {} : { columnsSeen };
}

function commitIn(files: Files): Pick<RecordsState, "appliedCommit"> {
  const text = files.get("commit.json");
  const appliedCommit = text === undefined ? undefined : parseAppliedCommit(parseStored(text, "commit.json"));
  return appliedCommit === undefined ? {} : { appliedCommit };
}

function unlockedIn(files: Files): readonly UnlockedRun[] {
  const text = files.get("unlocked.json");
  const value = text === undefined ? [] : parseStored(text, "unlocked.json");
  if (!Array.isArray(value)) throw new ContentError("unlocked.json must contain a list");
  return value.map((entry: unknown) => {
    const run = parseUnlockedRun(entry);
    if (run === undefined) throw new ContentError("unlocked.json contains an entry that this version of dimsync does not know");
    return run;
  });
}

function leaseIn(files: Files): Lease | undefined {
  const text = files.get("lease.json");
  if (text === undefined) return undefined;
  const value = parseStored(text, "lease.json");
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
