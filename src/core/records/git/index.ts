import { rm } from "node:fs/promises";
import { GitError, gitText } from "../../base/git/process.ts";
import { temporaryFolder } from "../../base/git/temporary-folder.ts";
import type { PastWrite, Records } from "../records.ts";
import { recordsOf } from "../shared/records.ts";
import type { SharedStore, WriteOutcome } from "../shared/store.ts";
import { recordsRefused, recordsUnreadable } from "../store-errors.ts";
import { commitOn, runIn } from "./commit.ts";
import { type Landing, land, whatIsThere } from "./land.ts";
import type { RecordsRepository } from "./repository.ts";
import { type GitStoreOptions, loadTip, openStore, type Tip } from "./store.ts";

export { initGitRecords } from "./init.ts";
export { probeGit } from "./probe.ts";

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
