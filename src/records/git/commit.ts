import { DimsyncError } from "../../model/errors.ts";
import type { Environment } from "../../model/settings/env.ts";
import { subjectOf } from "../shared/describe-change.ts";
import type { Draft } from "../shared/store.ts";
import { withEdit } from "./edit.ts";
import { commitMessage } from "./message.ts";
import { objectOf, writeObjects } from "./objects.ts";
import type { RecordsRepository } from "./repository.ts";
import { sealOf } from "./seal.ts";
import type { GitStore, Tip } from "./store.ts";
import { blobsOf, type Files, rootListing, type Tree, treesOf } from "./tree.ts";

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
  const { id, tree } = await writeCommit(repository, { files, before: parent.tree, parent: parent.version, message, key: store.key });
  return { version: id, tree, content: { ...content, state: { ...content.state, version: id } } };
}

const keyMissing = ({ target, place }: GitStore): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_KEY",
    `The records of the target ${target} (${place}) are sealed, and DIMSYNC_DIGEST_KEY is not set. Without the key, this run can't write them, so nothing is sent. Set it to the key that the other runs use.`,
  );

export interface NewCommit {
  readonly files: Files;
  /** The known files, with their blobs. */
  readonly before: Tree | undefined;
  readonly parent: string | undefined;
  readonly message: string;
  /** Absent: no seal. */
  readonly key: string | undefined;
}

/** Writes a commit into the local repository; nothing is sent. Throws GitError. */
export async function writeCommit(
  { place, objectFormat }: Pick<RecordsRepository, "place" | "objectFormat">,
  { parent, message, key, before, ...commit }: NewCommit,
): Promise<{ readonly id: string; readonly tree: Tree }> {
  const files = new Map(commit.files);
  files.delete("seal");
  if (key !== undefined) files.set("seal", sealOf(parent, rootListing(blobsOf(files, before, objectFormat).blobs, objectFormat), key));
  const { blobs, added } = blobsOf(files, before, objectFormat);
  const trees = treesOf(blobs, objectFormat);
  const at = `${Math.floor(Date.now() / 1000)} +0000`;
  const header = [
    `tree ${trees.at(-1)?.id}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${identityIn(place.env, "AUTHOR")} ${at}`,
    `committer ${identityIn(place.env, "COMMITTER", "AUTHOR")} ${at}`,
  ];
  const written = objectOf("commit", Buffer.from(`${header.join("\n")}\n\n${message}`), objectFormat);
  await writeObjects(place, [...added, ...trees, written], objectFormat);
  return { id: written.id, tree: { files, blobs } };
}

/** NAME <EMAIL>, from the environment as git reads it, without the characters that git leaves out. The first role that has a part decides. */
function identityIn(env: Environment, ...roles: readonly string[]): string {
  const part = (name: string, fallback: string): string => {
    const values = roles.map((role) => (env[`GIT_${role}_${name}`] ?? "").replaceAll(/[<>\n\0]/gu, "").trim());
    return values.find((value) => value !== "") ?? fallback;
  };
  return `${part("NAME", "dimsync")} <${part("EMAIL", "dimsync@localhost")}>`;
}
