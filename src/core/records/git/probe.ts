import { GitError } from "../../base/git/process.ts";
import type { StoreCondition, StoreFault } from "../records.ts";
import { type GitStore, type GitStoreOptions, loadTip, openStore } from "./store.ts";

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
