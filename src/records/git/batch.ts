import { type Fact, newFacts, otherWithId } from "../facts.ts";
import type { Lease, UnlockedRun } from "../records.ts";
import { writeCommit } from "./commit.ts";
import { withEdit } from "./edit.ts";
import { commitMessage, subjectOf } from "./message.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";

/** What a commit on a tip is made of. */
export interface Draft {
  readonly facts: readonly Fact[];
  readonly lease?: Lease | "free";
  readonly unlocked?: UnlockedRun;
  readonly runId: string;
  readonly runUrl: string | undefined;
  /** The first line of the message, if the facts give none. */
  readonly subject: string;
}

/** Writes the commit into the local repository, and returns the tip that it will be. Throws GitError. */
export async function commitOn(store: GitStore, repository: RecordsRepository, parent: Tip, draft: Draft): Promise<Tip> {
  const { facts, lease, unlocked, runId, runUrl, subject } = draft;
  const edit = { facts, ...(lease === undefined ? {} : { lease }), ...(unlocked === undefined ? {} : { unlocked }) };
  const { files, content } = withEdit({ files: parent.tree.files, content: parent.content }, edit, store.target);
  const before = parent.content.state;
  const message = commitMessage({ subject: subjectOf(facts, subject), facts, before, runId, runUrl, epoch: content.epoch });
  const { id, tree } = await writeCommit(repository.place, { files, before: parent.tree, parent: parent.commit, message, key: store.key });
  return { commit: id, tree, content: { ...content, state: { ...content.state, version: id } } };
}

/**
 * The facts that may be added to a tip. `isGuest`: this run has lost its lease and may only add what
 * concerns its own calls, never in the place of what others recorded since.
 */
export function admissible({ content: { state, applied } }: Tip, facts: readonly Fact[], isGuest: boolean): readonly Fact[] {
  const allowed = facts.filter((fact) => {
    if (fact.type === "bind") {
      const isFree = otherWithId(state.bindings, fact.address, fact.binding.id) === undefined;
      return isFree && (!isGuest || !state.bindings.has(fact.address));
    }
    return !isGuest || fact.type === "settle";
  });
  return newFacts(state, applied, allowed);
}
