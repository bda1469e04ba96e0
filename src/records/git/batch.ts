import { DimsyncError } from "../../model/errors.ts";
import { subjectOf } from "../shared/describe-change.ts";
import type { Draft } from "../shared/store.ts";
import { writeCommit } from "./commit.ts";
import { withEdit } from "./edit.ts";
import { commitMessage } from "./message.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";

/**
 * Writes the commit into the local repository, and returns it as the new tip. Throws GitError, and
 * E_RECORDS_KEY (exit 1) if the records are sealed and there is no key: a run with the key refuses
 * a commit without a seal.
 */
export async function commitOn(store: GitStore, repository: RecordsRepository, parent: Tip, draft: Draft): Promise<Tip> {
  if (store.key === undefined && parent.tree.files.has("seal")) throw keyMissing(store);
  const { facts, lease, unlocked, runId, runUrl, subject } = draft;
  const edit = { facts, ...(lease === undefined ? {} : { lease }), ...(unlocked === undefined ? {} : { unlocked }) };
  const { files, content } = withEdit({ files: parent.tree.files, content: parent.content }, edit, store.target);
  const before = parent.content.state;
  const message = commitMessage({ subject: subjectOf(facts, subject), facts, before, runId, runUrl, epoch: content.epoch });
  const { id, tree } = await writeCommit(repository.place, { files, before: parent.tree, parent: parent.version, message, key: store.key });
  return { version: id, tree, content: { ...content, state: { ...content.state, version: id } } };
}

const keyMissing = ({ target, place }: GitStore): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_KEY",
    `The records of the target ${target} (${place}) are sealed, and DIMSYNC_DIGEST_KEY is not set. Without the key, this run can't write them, so nothing is sent. Set it to the key that the other runs use.`,
  );
