import { type GitCall, GitError, type GitPlace, type GitTalk, gitText, talkToGit } from "./process.ts";

// Read from git's objects: no attribute, filter or encoding of the checkout applies.

export interface GitObject {
  /** Hex. */
  readonly id: string;
  readonly content: Buffer;
}

/**
 * The ids and contents of the objects with these names, such as `HEAD^{commit}` or `COMMIT:PATH`, read in one process. Undefined for those that do not exist, or
 * whose name has a line break. Throws GitError.
 */
export const namedObjects = (
  place: GitPlace,
  names: readonly string[],
  call: Pick<GitCall, "timeoutMs">,
): Promise<readonly (GitObject | undefined)[]> =>
  talkToGit(
    place,
    ["cat-file", "--batch"],
    async (talk) => {
      const found: (GitObject | undefined)[] = [];
      // One at a time, so that neither side waits for the other to read.
      for (const name of names) {
        if (name.includes("\n")) found.push(undefined);
        else {
          talk.write(`${name}\n`);
          found.push(await nextObject(talk));
        }
      }
      return found;
    },
    call,
  );

export interface TreeEntry {
  /** As git prints it: "100644", "120000" for a link, "160000" for a submodule. */
  readonly mode: string;
  readonly id: string;
  /** Relative to the top of the repository. */
  readonly path: string;
}

/** All files, links and submodules of a commit, or only the one at a path or those below it. Throws GitError. */
export async function filesAt(
  place: GitPlace,
  commit: string,
  { path, ...call }: GitCall & { readonly path?: string },
): Promise<readonly TreeEntry[]> {
  const text = await gitText(place, ["ls-tree", "-r", "-z", "--full-tree", commit, ...(path === undefined ? [] : ["--", path])], call);
  // MODE SP TYPE SP ID TAB PATH NUL …
  return [...text.matchAll(/(\d+) \w+ ([0-9a-f]+)\t([^\0]+)(?:\0|$)/gu)].map(([, mode = "", id = "", path = ""]) => ({ mode, id, path }));
}

/** How many blobs git is asked for at once. */
const asked = 1_000;

/** Reads the contents of these entries in their order, in one process. Throws GitError if the repository does not have one, and what `take` throws. */
export async function eachBlob<T extends Pick<TreeEntry, "id" | "path">>(
  place: GitPlace,
  entries: readonly T[],
  take: (content: Buffer, entry: T) => Promise<void> | void,
  call: Pick<GitCall, "timeoutMs">,
): Promise<void> {
  if (entries.length === 0) return;
  await talkToGit(
    place,
    ["cat-file", "--batch"],
    async (talk) => {
      for (const [index, entry] of entries.entries()) {
        if (index % asked === 0)
          talk.write(
            entries
              .slice(index, index + asked)
              .map(({ id }) => `${id}\n`)
              .join(""),
          );
        const blob = await nextObject(talk);
        if (blob === undefined) throw new GitError(`the checkout does not have the content of ${entry.path}`);
        await take(blob.content, entry);
      }
    },
    call,
  );
}

async function nextObject(talk: GitTalk): Promise<GitObject | undefined> {
  // ID SP TYPE SP SIZE LF CONTENT LF, or NAME SP missing LF
  const [, id, size] = /^([0-9a-f]+) [a-z]+ (\d+)$/u.exec(await talk.line()) ?? [];
  return id === undefined ? undefined : { id, content: (await talk.bytes(Number(size) + 1)).subarray(0, -1) };
}
