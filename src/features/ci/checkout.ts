import { rm } from "node:fs/promises";
import { join } from "node:path";
import { filesAt, type TreeEntry } from "../../core/git/blobs.ts";
import { type GitPlace, gitText } from "../../core/git/process.ts";
import type { Connection } from "../../core/git/remote.ts";
import { temporaryFolder } from "../../core/git/temporary-folder.ts";
import type { Environment } from "../../core/model/settings/env.ts";

/** The checkout of a job, and what it commits and pushes as. */
export interface Checkout {
  /** In the repository. */
  readonly folder: string;
  /** Name or URL of the remote. */
  readonly remote: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly env: Environment;
}

export type Git = (
  args: readonly string[],
  call?: { readonly input?: string | Uint8Array; readonly connection?: Connection },
) => Promise<string>;

/** For a push or a fetch. */
export const timeoutMs = 120_000;

/** Runs git in the checkout. Throws as `gitText` does. */
export function gitIn({ folder, author: { name, email }, env }: Omit<Checkout, "remote">, place: Pick<GitPlace, "indexFile"> = {}): Git {
  const identity = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
  return (args, { input, connection } = {}) =>
    gitText({ folder, env: { ...(connection?.env ?? env), ...identity }, ...place }, args, {
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    });
}

/** A file of a tree. */
interface TreeFile {
  /** In the repository. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

/** The file, link or submodule at a path of a commit. */
export const fileAt = async (place: GitPlace, commit: string, path: string): Promise<TreeEntry | undefined> =>
  (await filesAt(place, commit, { timeoutMs, path })).find((one) => one.path === path);

/** Writes the tree of a commit with these files in it, and returns its id. Neither the work tree nor the index is read or changed, so no filter, attribute or hook of a branch runs. */
export async function treeWith(options: Omit<Checkout, "remote">, commit: string, files: readonly TreeFile[]): Promise<string> {
  const temp = await temporaryFolder("index");
  try {
    const git = gitIn(options, { indexFile: join(temp, "index") });
    await git(["read-tree", commit]);
    for (const { path, content } of files) {
      const blob = await git(["hash-object", "-w", "--stdin", "--no-filters"], { input: content });
      const mode = (await fileAt(options, commit, path))?.mode ?? "100644";
      await git(["update-index", "--add", "--cacheinfo", `${mode},${blob},${path}`]);
    }
    return await git(["write-tree"]);
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}
