import { GitError, type GitPlace, gitText, runGit } from "../../git/process.ts";
import { type GitObject, type ObjectFormat, objectOf, type TreeEntry, treeOf } from "./objects.ts";

/** Text by path. */
export type Files = ReadonlyMap<string, string>;

/** The files of a commit, with the ids of their blobs. */
export interface Tree {
  readonly files: Files;
  readonly blobs: ReadonlyMap<string, string>;
}

/** Reads the files of a commit, except those whose blobs `known` has. Throws GitError. */
export async function readTree(place: GitPlace, commit: string, known?: Tree): Promise<Tree & { readonly parent: string | undefined }> {
  const entries = await gitText(place, ["ls-tree", "-r", "-z", "--full-tree", commit]);
  const blobs = new Map<string, string>();
  for (const entry of entries.split("\0")) {
    const [, blob, path] = /^100644 blob ([0-9a-f]+)\t(.+)$/su.exec(entry) ?? [];
    if (blob !== undefined && path !== undefined) blobs.set(path, blob);
    else if (entry !== "") throw new GitError(`the tree of ${commit} has an entry that is not a plain file: ${entry.slice(0, 100)}`);
  }
  const texts = new Map([...(known?.blobs ?? [])].map(([path, blob]) => [blob, known?.files.get(path)]));
  const missing = [...new Set(blobs.values())].filter((blob) => texts.get(blob) === undefined);
  // Not `git log`, which shows no parent at the end of a shallow history.
  const [header = "", ...read] = await readObjects(place, [commit, ...missing]);
  for (const [index, text] of read.entries()) texts.set(missing[index] ?? "", text);
  const files = new Map([...blobs].map(([path, blob]) => [path, texts.get(blob) ?? ""]));
  return { files, blobs, parent: /^parent ([0-9a-f]+)$/mu.exec(header)?.[1] };
}

async function readObjects(place: GitPlace, ids: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await runGit(place, ["cat-file", "--batch"], { input: `${ids.join("\n")}\n` });
  if (code !== 0) throw new GitError("the files of the records could not be read");
  const texts: string[] = [];
  let at = 0;
  for (const id of ids) {
    const end = stdout.indexOf(0x0a, at);
    const [name, , size] = stdout.toString("latin1", at, end).split(" ");
    if (name !== id || size === undefined) throw new GitError(`the object ${id} of the records is missing`);
    const start = end + 1;
    texts.push(stdout.toString("utf8", start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return texts;
}

/** The blobs of the files by path; `added`: those that `before` does not have. */
export function blobsOf(
  files: Files,
  before: Tree | undefined,
  format: ObjectFormat,
): { readonly blobs: ReadonlyMap<string, string>; readonly added: readonly GitObject[] } {
  const blobs = new Map<string, string>();
  const added: GitObject[] = [];
  for (const [path, text] of files) {
    const known = before?.files.get(path) === text ? before.blobs.get(path) : undefined;
    const blob = known === undefined ? objectOf("blob", Buffer.from(text), format) : undefined;
    if (blob !== undefined) added.push(blob);
    blobs.set(path, known ?? blob?.id ?? "");
  }
  return { blobs, added };
}

/** The trees of the blobs, the root last; folders are one level deep. */
export function treesOf(blobs: ReadonlyMap<string, string>, format: ObjectFormat): readonly GitObject[] {
  const { root, folders } = rootOf(blobs, format);
  return [...folders, treeOf(root, format)];
}

/** The entries of the root, sorted, as `git ls-tree` prints them. */
export function rootListing(blobs: ReadonlyMap<string, string>, format: ObjectFormat): string {
  const lines = rootOf(blobs, format).root.map(({ mode, name, id }) =>
    mode === "40000" ? `040000 tree ${id}\t${name}\n` : `100644 blob ${id}\t${name}\n`,
  );
  return lines.sort().join("");
}

function rootOf(
  blobs: ReadonlyMap<string, string>,
  format: ObjectFormat,
): { readonly root: readonly TreeEntry[]; readonly folders: readonly GitObject[] } {
  const root: TreeEntry[] = [];
  const inFolders = new Map<string, TreeEntry[]>();
  for (const [path, id] of blobs) {
    const [first = "", ...rest] = path.split("/");
    if (rest.length === 0) root.push({ mode: "100644", name: first, id });
    else inFolders.set(first, [...(inFolders.get(first) ?? []), { mode: "100644", name: rest.join("/"), id }]);
  }
  const folders = [...inFolders].map(([name, entries]) => ({ name, tree: treeOf(entries, format) }));
  for (const { name, tree } of folders) root.push({ mode: "40000", name, id: tree.id });
  return { root, folders: folders.map(({ tree }) => tree) };
}
