import { randomBytes } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { relative, sep } from "node:path";
import { GitError, gitText, repositoryTop } from "../../base/git/process.ts";
import { temporaryFolder } from "../../base/git/temporary-folder.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { emptyContent } from "../facts.ts";
import { ContentError } from "../readers.ts";
import type { PastWrite, Records, StoreCondition, StoreFault } from "../records.ts";
import { recordsOf } from "../shared/records.ts";
import type { SharedStore, WriteOutcome } from "../shared/store.ts";
import { recordsRefused, recordsUnclear, recordsUnreadable } from "../store-errors.ts";
import { parseRecords, printRecords } from "../text.ts";
import { commitMessage, commitOn, readCommit, runIn, writeCommit } from "./commit.ts";
import { type Landing, land, whatIsThere } from "./land.ts";
import type { RecordsRepository } from "./repository.ts";
import { type GitStore, type GitStoreOptions, loadTip, openStore, type Tip } from "./store.ts";

export type { GitStoreOptions } from "./store.ts";

/** The records of one target in a ref of the project's remote. */
export const openGitRecords = (options: GitStoreOptions): Records => recordsOf("git", sharedStore(options));

function sharedStore(options: GitStoreOptions): SharedStore<Tip> {
  const store = openStore(options);
  return {
    ...store,
    // A push takes seconds on a forge.
    gatherMs: 5_000,
    waveSize: 16,
    read: (purpose, known) => loadTip(store, purpose === "write", known),
    // The ref has not moved for one time-to-live of the lease.
    isAbandoned: ({ content: { lease } }, unmovedMs) => lease !== undefined && lease.reason === undefined && unmovedMs >= lease.ttlMs,
    async prepare(parent, next) {
      try {
        return await commitOn(store, await store.repository(true), parent, next);
      } catch (error) {
        throw error instanceof GitError ? recordsRefused(store, error.message) : error;
      }
    },
    async swap(next, parent) {
      const repository = await store.repository(true);
      const landing = await land(repository, { commit: next.version, parent: parent.version }, store);
      if (landing.outcome === "stored" && landing.tip === next.version) await repository.remember(next.version);
      return outcomeOf(landing);
    },
    async outcomeOf(next, parent) {
      const seen = await whatIsThere(await store.repository(true), next.version, parent.version);
      return typeof seen === "object" ? outcomeOf(seen) : seen;
    },
    async history(limit) {
      // First, because it checks that these are the records that the config names.
      await loadTip(store, false);
      try {
        return await readCommits(await store.repository(false), limit);
      } catch (error) {
        throw error instanceof GitError ? recordsUnreadable(store, error.message, error) : error;
      }
    },
    close: async () => undefined,
  };
}

function outcomeOf(landing: Landing): WriteOutcome {
  if (landing.outcome === "stored") return { outcome: "stored", newest: landing.tip };
  return landing.outcome === "lost" ? { outcome: "lost", isGone: landing.tip === undefined } : landing;
}

/**
 * The newest commits of the ref, newest first. They are fetched into a repository that is deleted
 * again: a shallow fetch into the one that is kept could cut off what it knows. Throws GitError.
 */
async function readCommits(repository: RecordsRepository, limit: number): Promise<readonly PastWrite[]> {
  const folder = await temporaryFolder("history");
  try {
    const place = { ...repository.place, gitDir: folder };
    await gitText(place, ["init", "--quiet", "--bare", "--template=", `--object-format=${repository.objectFormat}`]);
    const flags = ["--quiet", "--no-tags", "--no-write-fetch-head", "--filter=tree:0", `--depth=${limit}`];
    await gitText(place, ["fetch", ...flags, repository.url, `+${repository.ref}:refs/history`], { timeoutMs: 60_000 });
    const text = await gitText(place, ["log", "-z", "--format=%cI%n%B", "refs/history"]);
    return text.split("\0").flatMap((entry) => {
      const [at = ""] = entry.split("\n", 1);
      return at === "" ? [] : [{ at, runId: runIn(entry) }];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Makes new, empty records at the ref, and returns their id. Records that were made before for the same
 * target of the same folder, and never used, are taken as they are. Throws E_RECORDS_EXIST (exit 1) if the ref has other content,
 * E_RECORDS_READ, E_RECORDS_REFUSED and E_RECORDS_UNCLEAR.
 */
export async function initGitRecords(options: Omit<GitStoreOptions, "id">): Promise<string> {
  const id = randomBytes(16).toString("hex");
  const store = openStore({ ...options, id });
  const repository = await store.repository(true);
  try {
    const subject = await subjectFor(options);
    const text = printRecords({ target: options.target, id }, emptyContent);
    const message = commitMessage({ subject, changes: [], runId: "init", runUrl: undefined, content: emptyContent });
    if ((await repository.tip()) !== undefined) return await unusedRecords(options, repository, subject);
    const commit = await writeCommit(repository.place, { text, parent: undefined, message, key: store.key });
    const landing = await land(repository, { commit, parent: undefined }, store);
    if (landing.outcome === "lost") return await unusedRecords(options, repository, subject);
    if (landing.outcome === "refused") throw recordsRefused(store, landing.words);
    if (landing.outcome === "unclear") throw recordsUnclear(store, landing.words);
  } catch (error) {
    throw error instanceof GitError ? recordsUnreadable(store, error.message, error) : error;
  }
  return id;
}

/** Names the target and the project's folder in the repository: two projects may have a target of the same name. */
async function subjectFor({ folder, target }: Pick<GitStoreOptions, "folder" | "target">): Promise<string> {
  const real = await realpath(folder);
  const inRepository = relative(repositoryTop(real) ?? real, real)
    .split(sep)
    .join("/");
  return `Create the records of the target ${target}${inRepository === "" ? "" : ` in ${inRepository}/`}`;
}

/** The id of records that were made with this subject and in which no run has written yet. Throws E_RECORDS_EXIST if there are others. */
async function unusedRecords(options: Omit<GitStoreOptions, "id">, repository: RecordsRepository, subject: string): Promise<string> {
  const found =
    (await repository.fetch()) === "missing"
      ? undefined
      : await readCommit(repository.place, repository.fetched).catch((error: unknown) => {
          throw error instanceof ContentError ? exists(options, "") : error;
        });
  const id = idIn(found?.text ?? "");
  const isUnused = found?.text === printRecords({ target: options.target, id }, emptyContent);
  if (id === "" || !isUnused || found?.subject !== subject) throw exists(options, id);
  await loadTip(openStore({ ...options, id }), true);
  return id;
}

/** "" if dimsync did not write the text. */
function idIn(text: string): string {
  try {
    return parseRecords(text).head.id;
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return "";
  }
}

function exists({ ref, remote, target }: Omit<GitStoreOptions, "id">, id: string): DimsyncError {
  const named = id === "" ? "which dimsync did not write" : `with the id ${id.slice(0, 40)}`;
  return new DimsyncError(
    "E_RECORDS_EXIST",
    `${ref} of ${remote} already has content, ${named}. If these are the records of this account, add \`records: { git: { ref: ${ref}, id: ${id === "" ? "ID" : id.slice(0, 40)} } }\` to the target ${target} in dimsync.yaml. Otherwise, choose another ref:`,
    { command: `dimsync records init --to git:${ref}-2` },
  );
}

/**
 * Reads the records, and tries a push as a dry run: git connects as for a push, but sends nothing, so
 * that hooks and rules of the server do not run. Throws as `Records.read` does.
 */
export async function probeGit(options: GitStoreOptions): Promise<StoreCondition> {
  const { ref, key } = options;
  const store = openStore(options);
  const { version, isSealed } = await loadTip(store, false);
  const unchecked: StoreFault = {
    what: "The commits have a seal, and DIMSYNC_DIGEST_KEY is not set: it was not checked.",
    fix: "plan and drift work. For apply, set DIMSYNC_DIGEST_KEY to the key of the other runs.",
  };
  return {
    found: `${ref} was read at ${version.slice(0, 12)}, and has the id that dimsync.yaml names.`,
    faults: [...(isSealed && key === undefined ? [unchecked] : []), ...(await pushFaults(store, ref, version))],
  };
}

async function pushFaults(store: GitStore, ref: string, version: string): Promise<readonly StoreFault[]> {
  const refused = (words: string): readonly StoreFault[] => [
    {
      what: `A dry run of a push to ${ref} was refused: ${words}`,
      fix: "plan and drift work. apply needs a token that may push: on GitHub, contents: write; on GitLab, a project token with write_repository.",
    },
  ];
  try {
    const { accepted, isStale, words } = await (await store.repository(true)).dryRun(version);
    if (accepted) return [];
    if (!isStale) return refused(words);
    // Readers see the ref, and those who push do not.
    const fix = `plan and drift work. For apply, use a branch: dimsync records migrate --to git:${ref.replace(/^refs\//u, "refs/heads/")}`;
    return [{ what: `The server hides ${ref} from those who push.`, fix }];
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return refused(error.message);
  }
}
