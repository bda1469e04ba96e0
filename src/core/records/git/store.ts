import { GitError, isHopeless } from "../../base/git/process.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { exponentialMs } from "../../base/model/runtime/clock.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { type LeaseClock, systemClock } from "../lease.ts";
import { ContentError } from "../readers.ts";
import type { RecordsContent, Version } from "../shared/store.ts";
import { recordsForeign, recordsGone, recordsInvalid, recordsUnreadable } from "../store-errors.ts";
import { parseRecords } from "../text.ts";
import { type ReadCommit, readCommit, sealMatches, sealOf } from "./commit.ts";
import { openRepositories, type RecordsRepository, type Repositories } from "./repository.ts";

/** A commit at the ref, read and checked. */
export interface Tip extends Version {
  readonly isSealed: boolean;
}

export interface GitStoreOptions {
  /** The project's folder. */
  readonly folder: string;
  readonly target: string;
  readonly remote: string;
  readonly ref: string;
  /** From the config: the store has to have it. */
  readonly id: string;
  readonly ttlMs: number;
  /** DIMSYNC_DIGEST_KEY: commits are sealed, and an unsealed one is refused. */
  readonly key: string | undefined;
  readonly env: Environment;
  /** Default: the system's. */
  readonly clock?: LeaseClock;
}

/** The ref of one target. */
export interface GitStore extends GitStoreOptions {
  readonly clock: LeaseClock;
  /** For messages: "refs/dimsync/prod of origin". */
  readonly place: string;
  /** How long a write may take, including all attempts, before it counts as refused or unclear. */
  readonly timeLimitMs: number;
  /** Opened on first use. `writes`: uses the push URL. Throws E_RECORDS_READ. */
  readonly repository: (writes: boolean) => Promise<RecordsRepository>;
}

export function openStore(options: GitStoreOptions): GitStore {
  let opened: Promise<Repositories> | undefined;
  const store: GitStore = {
    clock: systemClock,
    ...options,
    place: `${options.ref} of ${options.remote}`,
    // Less than half the time-to-live: a write that took longer would leave no time to send anything.
    timeLimitMs: Math.min(30_000, options.ttlMs / 3),
    async repository(writes) {
      try {
        opened ??= openRepositories(options);
        const { toRead, toWrite } = await opened;
        return writes ? toWrite : toRead;
      } catch (error) {
        throw readError(store, error);
      }
    },
  };
  return store;
}

/**
 * Reads the ref. Tries again for a while if it can't be reached. Throws E_RECORDS_GONE and
 * E_RECORDS_READ (exit 1).
 */
export async function loadTip(store: GitStore, writes: boolean, known?: Tip): Promise<Tip> {
  const repository = await store.repository(writes);
  const nowMs = (): number => store.clock.now().monotonicMs;
  const deadline = nowMs() + Math.min(store.timeLimitMs, 10_000);
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Listing is cheaper than fetching, for runs that wait for a change.
      if (known !== undefined && (await repository.tip()) === known.version) return known;
      const fetched = await repository.fetch();
      if (fetched === "missing") throw recordsGone(store, "the ref does not exist");
      if (fetched === "rewound")
        throw recordsGone(
          store,
          `the ref was moved back or replaced since this machine last read it (to accept what is there now, delete ${repository.place.gitDir})`,
        );
      return await readTip(store, repository, known);
    } catch (error) {
      const pauseMs = exponentialMs(attempt, 250);
      const hopeless = !(error instanceof GitError) || isHopeless(error.message) || nowMs() + pauseMs > deadline;
      if (hopeless) throw readError(store, error);
      await store.clock.sleep(pauseMs);
    }
  }
}

/** Reads the fetched commit. Throws GitError, E_RECORDS_GONE, E_RECORDS_READ. */
async function readTip(store: GitStore, { place, fetched }: RecordsRepository, known: Tip | undefined): Promise<Tip> {
  const commit = await readCommit(place, fetched).catch((error: unknown) => {
    throw error instanceof ContentError ? recordsInvalid(store, error.message, error) : error;
  });
  if (commit.id === known?.version) return known;
  if (store.key !== undefined) checkSeal(store, commit, store.key);
  return { version: commit.id, isSealed: commit.seal !== undefined, content: decode(store, commit) };
}

function decode(store: GitStore, { id: version, text }: ReadCommit): RecordsContent {
  try {
    const { head, content } = parseRecords(text);
    if (head.id !== store.id) throw recordsForeign(store, head.id, store.id);
    return { ...content, state: { ...content.state, version } };
  } catch (error) {
    throw error instanceof ContentError ? recordsInvalid(store, error.message, error) : error;
  }
}

function checkSeal(store: GitStore, { text, seal, parent }: ReadCommit, key: string): void {
  if (sealMatches(seal, sealOf(parent, text, key))) return;
  const why = seal !== undefined ? "its seal does not match" : "it has no seal";
  throw new DimsyncError(
    "E_RECORDS_UNSEALED",
    `The records of the target ${store.target} (${store.place}) are refused: ${why}. DIMSYNC_DIGEST_KEY is set, and this commit was not written with the key, so anyone may have written it. Check it with git log, and unset the key only if you trust the commit.`,
  );
}

function readError(store: GitStore, error: unknown): unknown {
  if (error instanceof DimsyncError || !(error instanceof Error)) return error;
  return recordsUnreadable(store, error.message, error);
}
