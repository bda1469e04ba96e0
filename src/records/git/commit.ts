import { type GitPlace, gitText } from "../../git/process.ts";
import type { Environment } from "../../model/settings/env.ts";
import { sealOf } from "./seal.ts";
import { type Files, makeTree, rootListing, type Tree, writeBlobs } from "./tree.ts";

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
export async function writeCommit(place: GitPlace, commit: NewCommit): Promise<{ readonly id: string; readonly tree: Tree }> {
  const { parent, message, key, before } = commit;
  const files = new Map(commit.files);
  files.delete("seal");
  let tree = await writeBlobs(place, files, before);
  let listing = await rootListing(place, tree.blobs);
  if (key !== undefined) {
    files.set("seal", sealOf(parent, listing, key));
    tree = await writeBlobs(place, files, tree);
    listing = await rootListing(place, tree.blobs);
  }
  const id = await gitText(
    { ...place, env: { ...identity(place.env), ...place.env } },
    ["commit-tree", await makeTree(place, listing), ...(parent === undefined ? [] : ["-p", parent]), "-F", "-"],
    { input: message },
  );
  return { id, tree };
}

const identity = (env: Environment): Environment => {
  const name = env["GIT_AUTHOR_NAME"] ?? "dimsync";
  const email = env["GIT_AUTHOR_EMAIL"] ?? "dimsync@localhost";
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
};
