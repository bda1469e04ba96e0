import { GitError, isDenied } from "../../base/git/process.ts";
import { exponentialMs, spread } from "../../base/model/runtime/clock.ts";
import type { LeaseClock } from "../lease.ts";
import type { RecordsRepository } from "./repository.ts";

// The outcome of a push is determined by reading the ref, never by git's output. "stale info" and
// "failed to update ref" are also printed for pushes that were stored: a proxy sent them twice. A
// single read of the old commit proves nothing either: a push can be stored seconds after its
// client died. But a commit can be stored only on its parent, and only once. So:
// - exit code 0, or the commit is at the ref or an ancestor of the commit there: stored.
// - the parent is at the ref: push the same commit again.
// - another commit is at the ref: this commit is lost.

export type Landing =
  /** `tip` was last read at the ref: the commit itself, or a later one. */
  | { readonly outcome: "stored"; readonly tip: string }
  /** `tip` is undefined if the ref is gone. */
  | { readonly outcome: "lost"; readonly tip: string | undefined }
  /** The ref did not change. `words` are git's. */
  | { readonly outcome: "refused"; readonly words: string }
  | { readonly outcome: "unclear"; readonly words: string };

/** Pushes a commit until its outcome is known, for at most `timeLimitMs`. Never throws GitError. */
export async function land(
  repository: RecordsRepository,
  { commit, parent }: { readonly commit: string; readonly parent: string | undefined },
  { timeLimitMs, clock }: { readonly timeLimitMs: number; readonly clock: LeaseClock },
): Promise<Landing> {
  const nowMs = (): number => clock.now().monotonicMs;
  const deadline = nowMs() + timeLimitMs;
  const shortestMs = Math.min(3_000, timeLimitMs / 2);
  for (let attempt = 1; ; attempt += 1) {
    const begun = nowMs();
    const { accepted, rejected, isStale, words } = await repository.push(
      commit,
      parent,
      Math.min(Math.max(shortestMs, deadline - begun), 20_000),
    );
    if (accepted) return { outcome: "stored", tip: commit };
    const pushMs = nowMs() - begun;
    const seen = await whatIsThere(repository, commit, parent);
    if (typeof seen === "object") return seen;
    // The server would deny the next attempt too, and nothing was sent before.
    if (attempt === 1 && seen === "unchanged" && isDenied(words)) return { outcome: "refused", words };
    const isRefused = rejected || isDenied(words);
    const pause = spread(exponentialMs(attempt, 200, 5_000));
    // An attempt that is cut short makes the outcome of a push that the server refuses unclear.
    const neededMs = isRefused ? Math.max(shortestMs, 2 * pushMs) : shortestMs;
    if (nowMs() + pause + neededMs > deadline) {
      if (!isRefused || seen !== "unchanged") return { outcome: "unclear", words };
      // Readers and writers see different refs.
      return { outcome: "refused", words: isStale ? `${words} The server may hide the ref ${repository.name} from writers.` : words };
    }
    await clock.sleep(pause);
  }
}

/**
 * Determines the outcome by reading the ref. "unchanged": the parent is there. "unreadable": try
 * again.
 */
export async function whatIsThere(
  repository: RecordsRepository,
  commit: string,
  parent: string | undefined,
): Promise<Landing | "unchanged" | "unreadable"> {
  try {
    const tip = await repository.tip();
    if (tip === commit) return { outcome: "stored", tip };
    if (tip === parent) return "unchanged";
    if (tip === undefined) return { outcome: "lost", tip };
    if ((await repository.fetch()) === "missing") return { outcome: "lost", tip: undefined };
    return { outcome: (await repository.isAncestor(commit, repository.fetched)) ? "stored" : "lost", tip };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return "unreadable";
  }
}
