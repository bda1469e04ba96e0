import type { Draft } from "../shared/store.ts";
import { writeCommit } from "./commit.ts";
import { withEdit } from "./edit.ts";
import { commitMessage, subjectOf } from "./message.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";

/** Writes the commit into the local repository, and returns the tip that it will be. Throws GitError. */
export async function commitOn(store: GitStore, repository: RecordsRepository, parent: Tip, draft: Draft): Promise<Tip> {
  const { facts, lease, unlocked, runId, runUrl, subject } = draft;
  const edit = { facts, ...(lease === undefined ? {} : { lease }), ...(unlocked === undefined ? {} : { unlocked }) };
  const { files, content } = withEdit({ files: parent.tree.files, content: parent.content }, edit, store.target);
  const before = parent.content.state;
  const message = commitMessage({ subject: subjectOf(facts, subject), facts, before, runId, runUrl, epoch: content.epoch });
  const { id, tree } = await writeCommit(repository.place, { files, before: parent.tree, parent: parent.version, message, key: store.key });
  return { version: id, tree, content: { ...content, state: { ...content.state, version: id } } };
}
