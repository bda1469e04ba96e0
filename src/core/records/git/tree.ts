import { createHmac, timingSafeEqual } from "node:crypto";
import { GitError, type GitPlace, type GitTalk, talkToGit } from "../../git/process.ts";
import { addAll } from "../../model/maps.ts";
import { ContentError } from "../readers.ts";
import { isSectionName } from "../text.ts";

/** Text by path. */
export type Files = ReadonlyMap<string, string>;

/** The files of a commit, with the ids of their blobs. */
export interface Tree {
  readonly files: Files;
  readonly blobs: ReadonlyMap<string, string>;
}

export interface ReadCommit {
  readonly id: string;
  /** Read from the commit, because git shows no parent at the end of a shallow history. */
  readonly parent: string | undefined;
  readonly subject: string;
  readonly tree: Tree;
  /** The root without the seal, as `git ls-tree` prints it. */
  readonly listing: string;
}

/** Reads the commit with that name, in one process: only files of records, and those whose blobs `known` has are not read again. Throws GitError and ContentError. */
export const readCommit = (place: GitPlace, name: string, known?: Tree): Promise<ReadCommit> =>
  // Git has no large object in memory as a whole.
  talkToGit(place, ["-c", "core.bigFileThreshold=8m", "cat-file", "--batch"], async (git) => {
    const budget = { left: mostBytes };
    const read = async (names: readonly string[]): Promise<readonly GitObject[]> => await readObjects(git, names, budget);
    const [commit = noObject] = await read([name]);
    const [header = "", message = ""] = commit.content.toString("utf8").split("\n\n", 2);
    // Not through the name: another process may fetch meanwhile.
    const entries = entriesIn((await read([/^tree ([0-9a-f]+)$/mu.exec(header)?.[1] ?? ""]))[0]);
    const unknown = entries.find((entry) => !isRecordsFile(entry.name));
    if (unknown !== undefined)
      throw new ContentError(
        `it has the file ${JSON.stringify(unknown.name.slice(0, 100))}, which this version of dimsync does not know; use a newer version`,
      );
    const blobs = new Map<string, string>();
    const folders = entries.filter(({ mode }) => mode === "40000");
    const all = entries.filter(({ mode }) => mode !== "40000");
    const trees = await read(folders.map(({ id }) => id));
    for (const [index, { name: folder }] of folders.entries())
      addAll(
        all,
        entriesIn(trees[index]).map((entry) => ({ ...entry, name: `${folder}/${entry.name}` })),
      );
    for (const { mode, name: path, id } of all) {
      if (mode !== "100644") throw new GitError(`the tree of ${commit.id} has an entry that is not a plain file: ${path.slice(0, 100)}`);
      blobs.set(path, id);
    }
    const texts = new Map([...(known?.blobs ?? [])].map(([path, blob]) => [blob, known?.files.get(path)]));
    const missing = [...new Set(blobs.values())].filter((blob) => texts.get(blob) === undefined);
    for (const { id, content } of await read(missing)) texts.set(id, content.toString("utf8"));
    const files = new Map([...blobs].map(([path, blob]) => [path, texts.get(blob) ?? ""]));
    return {
      id: commit.id,
      parent: /^parent ([0-9a-f]+)$/mu.exec(header)?.[1],
      subject: message.split("\n")[0] ?? "",
      tree: { files, blobs },
      listing: listingOf(entries),
    };
  });

/** Whether the root of a commit of records can have a file or folder of this name. */
const isRecordsFile = (name: string): boolean => name === "format" || name === "seal" || isSectionName(name);

interface GitObject {
  readonly id: string;
  readonly content: Buffer;
}

/** Everybody who may push can write the ref: a blob of zeros costs them nothing. */
const mostBytes = 64 * 1024 * 1024;

/** All are asked for at once: hundreds of answers one by one take long. Git names the size of an object before its content, which is not read if it is too large. */
async function readObjects(git: GitTalk, names: readonly string[], budget: { left: number }): Promise<readonly GitObject[]> {
  git.write(names.map((name) => `${name}\n`).join(""));
  const objects: GitObject[] = [];
  for (const name of names) {
    const [id = "", , size] = (await git.line()).split(" ");
    if (size === undefined) throw new GitError(`the object ${name} of the records is missing`);
    budget.left -= Number(size);
    if (budget.left < 0) throw new ContentError(`its files have more than ${mostBytes} bytes together, and no more are read`);
    objects.push({ id, content: await git.bytes(Number(size)) });
    await git.line();
  }
  return objects;
}

const noObject: GitObject = { id: "", content: Buffer.alloc(0) };

/** An entry of a tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}

/** MODE NAME NUL ID, again and again; the id of an entry is as long as that of the tree. */
function entriesIn({ id, content } = noObject): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const [space, end] = [content.indexOf(" ", at), content.indexOf(0, at)];
    const next = end + 1 + id.length / 2;
    if (space < at || end < space || next > content.length) throw new GitError(`the tree ${id} of the records is damaged`);
    entries.push({
      mode: content.toString("latin1", at, space),
      name: content.toString("utf8", space + 1, end),
      id: content.toString("hex", end + 1, next),
    });
    at = next;
  }
  return entries;
}

/** The entries of the root without the seal, as `git ls-tree` prints them. */
export const listingOf = (entries: readonly TreeEntry[]): string =>
  entries
    .filter(({ name }) => name !== "seal")
    .map(({ mode, name, id }) => (mode === "40000" ? `040000 tree ${id}\t${name}\n` : `100644 blob ${id}\t${name}\n`))
    .sort()
    .join("");

// A ref can't be protected against users who may push. With DIMSYNC_DIGEST_KEY each commit carries
// an HMAC over its parent and its files, so that dimsync notices a commit without the key. Moving
// the ref back to an older sealed commit is not noticed.

/** The seal of a commit with this `listing`. */
export function sealOf(parent: string | undefined, listing: string, key: string): string {
  return `hmac-sha256:${createHmac("sha256", key)
    .update(`dimsync records 1\n${parent ?? ""}\n${listing}`)
    .digest("hex")}\n`;
}

/** Whether the seal in a commit is correct. */
export function sealMatches(found: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(found ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
