import { GitError, type GitPlace, gitText, runGit } from "../../git/process.ts";

/** Text by path. */
export type Files = ReadonlyMap<string, string>;

/** The files of a commit, with the ids of their blobs. */
export interface Tree {
  readonly files: Files;
  readonly blobs: ReadonlyMap<string, string>;
}

/** Reads the files of a commit, except those whose blobs `known` has. Throws GitError. */
export async function readTree(place: GitPlace, commit: string, known?: Tree): Promise<Tree & { readonly parent: string | undefined }> {
  const [entries, header] = await Promise.all([
    gitText(place, ["ls-tree", "-r", "-z", "--full-tree", commit]),
    // Not `git log`, which shows no parent at the end of a shallow history.
    gitText(place, ["cat-file", "commit", commit]),
  ]);
  const blobs = new Map<string, string>();
  for (const entry of entries.split("\0")) {
    const [, blob, path] = /^100644 blob ([0-9a-f]+)\t(.+)$/su.exec(entry) ?? [];
    if (blob !== undefined && path !== undefined) blobs.set(path, blob);
    else if (entry !== "") throw new GitError(`the tree of ${commit} has an entry that is not a plain file: ${entry.slice(0, 100)}`);
  }
  const texts = new Map([...(known?.blobs ?? [])].map(([path, blob]) => [blob, known?.files.get(path)]));
  const missing = [...new Set(blobs.values())].filter((blob) => texts.get(blob) === undefined);
  for (const [index, text] of (await readBlobs(place, missing)).entries()) texts.set(missing[index] ?? "", text);
  const files = new Map([...blobs].map(([path, blob]) => [path, texts.get(blob) ?? ""]));
  return { files, blobs, parent: /^parent ([0-9a-f]+)$/mu.exec(header)?.[1] };
}

async function readBlobs(place: GitPlace, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const { code, stdout } = await runGit(place, ["cat-file", "--batch"], { input: `${ids.join("\n")}\n` });
  if (code !== 0) throw new GitError("the files of the records could not be read");
  const texts: string[] = [];
  let at = 0;
  for (const id of ids) {
    const end = stdout.indexOf(0x0a, at);
    const [name, type, size] = stdout.toString("latin1", at, end).split(" ");
    if (name !== id || type !== "blob") throw new GitError(`the object ${id} of the records is missing`);
    const start = end + 1;
    texts.push(stdout.toString("utf8", start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return texts;
}

/** Writes the files that `before` does not have, and returns all with their blobs. Throws GitError. */
export async function writeBlobs(place: GitPlace, files: Files, before?: Tree): Promise<Tree> {
  const written = await Promise.all(
    [...files].map(async ([path, text]): Promise<[string, string]> => {
      const known = before?.files.get(path) === text ? before.blobs.get(path) : undefined;
      return [path, known ?? (await gitText(place, ["hash-object", "-w", "--stdin"], { input: text }))];
    }),
  );
  return { files, blobs: new Map(written) };
}

/** The root of the tree as input for `git mktree`; folders are one level deep. Throws GitError. */
export async function rootListing(place: GitPlace, blobs: ReadonlyMap<string, string>): Promise<string> {
  const root = new Map<string, string>();
  const folders = new Map<string, string[]>();
  for (const [path, blob] of blobs) {
    const [first = "", ...rest] = path.split("/");
    if (rest.length === 0) root.set(first, `100644 blob ${blob}\t${first}`);
    else folders.set(first, [...(folders.get(first) ?? []), `100644 blob ${blob}\t${rest.join("/")}`]);
  }
  for (const [name, lines] of folders) root.set(name, `040000 tree ${await makeTree(place, listing(lines))}\t${name}`);
  return listing([...root.values()]);
}

export const makeTree = (place: GitPlace, lines: string): Promise<string> => gitText(place, ["mktree"], { input: lines });

const listing = (lines: readonly string[]): string =>
  [...lines]
    .sort()
    .map((line) => `${line}\n`)
    .join("");
