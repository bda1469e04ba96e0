import { GitError } from "../../git/process.ts";
import type { RecordsRepository } from "./repository.ts";
import { type GitStoreOptions, loadTip, openStore } from "./store.ts";

/** The condition of records in git, for `dimsync doctor`. */
export interface GitProbe {
  readonly ref: string;
  /** Whether the newest commit has a seal. With a key, the seal was checked. */
  readonly isSealed: boolean;
  readonly hasKey: boolean;
  /** Of a push that changes nothing, as a dry run; undefined if it was accepted. `words` are git's. */
  readonly refused: { readonly words: string; readonly isHidden: boolean } | undefined;
}

/**
 * Reads the records, and tries a push as a dry run: git connects as for a push, but sends nothing, so
 * that hooks and rules of the server do not run. Throws as `Records.read` does.
 */
export async function probeGit(options: GitStoreOptions): Promise<GitProbe> {
  const store = openStore(options);
  const { version, isSealed } = await loadTip(store, false);
  return {
    ref: options.ref,
    isSealed,
    hasKey: options.key !== undefined,
    refused: await dryRun(() => store.repository(true), version),
  };
}

async function dryRun(open: () => Promise<RecordsRepository>, version: string): Promise<GitProbe["refused"]> {
  try {
    const { accepted, isStale, words } = await (await open()).dryRun(version);
    // Readers see the ref, and those who push do not.
    return accepted ? undefined : { words, isHidden: isStale };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { words: error.message, isHidden: false };
  }
}
