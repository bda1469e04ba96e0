import { GitError, type GitPlace, type GitTalk, talkToGit } from "../../git/process.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Environment } from "../../model/settings/env.ts";
import { visible } from "../../text/control-characters.ts";
import type { RecordsChange } from "../records.ts";
import type { Next } from "../shared/store.ts";
import { filesOf } from "./content.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";
import { type Files, listingOf, sealOf, type Tree, type TreeEntry } from "./tree.ts";

/**
 * Writes the commit into the local repository, and returns it as the new tip. Throws GitError, and
 * E_RECORDS_KEY (exit 1) if the records are sealed and there is no key: a run with the key refuses
 * a commit without a seal.
 */
export async function commitOn(store: GitStore, repository: RecordsRepository, parent: Tip, next: Next): Promise<Tip> {
  const { key, id, target } = store;
  if (key === undefined && parent.tree.files.has("seal")) throw keyMissing(store);
  const { content } = next;
  const commit = {
    files: filesOf({ target, id }, content),
    before: parent.tree,
    parent: parent.version,
    message: commitMessage(next),
    key,
  };
  const { id: version, tree } = await writeCommit(repository.place, commit);
  return { version, tree, content: { ...content, state: { ...content.state, version } } };
}

const keyMissing = ({ target, place }: GitStore): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_KEY",
    `The records of the target ${target} (${place}) are sealed, and DIMSYNC_DIGEST_KEY is not set. Without the key, this run can't write them, so nothing is sent. Set it to the key that the other runs use.`,
  );

interface NewCommit {
  readonly files: Files;
  /** The files of the parent. */
  readonly before: Tree | undefined;
  readonly parent: string | undefined;
  readonly message: string;
  /** Absent: no seal. */
  readonly key: string | undefined;
}

/** Writes a commit into the local repository, in one process and at no ref; nothing is sent. Throws GitError. */
export function writeCommit(
  place: GitPlace,
  { parent, message, key, before, ...commit }: NewCommit,
): Promise<{ readonly id: string; readonly tree: Tree }> {
  const files = new Map([...commit.files].filter(([path]) => path !== "seal"));
  const changed = [...files].filter(([path, text]) => before?.files.get(path) !== text);
  const removed = [...(before?.files.keys() ?? [])].filter((path) => !files.has(path));
  const at = `${Math.floor(Date.now() / 1000)} +0000`;
  return talkToGit(place, ["fast-import", "--quiet", "--done"], async (git) => {
    git.write(`commit ${branch}\nmark :1\nauthor ${identityIn(place.env, "AUTHOR")} ${at}\n`);
    git.write(`committer ${identityIn(place.env, "COMMITTER", "AUTHOR")} ${at}\n${dataOf(message)}`);
    if (parent !== undefined) git.write(`from ${parent}\n`);
    for (const path of removed) git.write(`D ${quoted(path)}\n`);
    const write = ([path, text]: readonly [string, string]): void => git.write(`M 100644 inline ${quoted(path)}\n${dataOf(text)}`);
    for (const file of changed) write(file);
    const blobs = new Map([...(before?.blobs ?? [])].filter(([path]) => files.has(path)));
    for (const { name, id } of await listed(
      git,
      changed.map(([path]) => path),
    ))
      blobs.set(name, id);
    if (key !== undefined) {
      const roots = new Set([...files.keys()].map((path) => path.replace(/\/.*/su, "")));
      const seal = sealOf(parent, listingOf(await listed(git, [...roots])), key);
      write(["seal", seal]);
      files.set("seal", seal);
      for (const { name, id } of await listed(git, ["seal"])) blobs.set(name, id);
    }
    git.write("get-mark :1\n");
    const id = await git.line();
    // Without it, git would move a ref that processes share.
    git.write(`reset ${branch}\nfrom ${"0".repeat(id.length)}\n\ndone\n`);
    return { id, tree: { files, blobs } };
  });
}

const branch = "refs/new";

/** The length is in bytes. */
const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

const quoted = (path: string): string => `"${path.replaceAll(/["\\]/gu, "\\$&").replaceAll("\n", "\\n")}"`;

/** The entries at these paths of the commit that is being written. */
async function listed(git: GitTalk, paths: readonly string[]): Promise<readonly TreeEntry[]> {
  git.write(paths.map((path) => `ls ${quoted(path)}\n`).join(""));
  const entries: TreeEntry[] = [];
  for (const name of paths) {
    const [mode = "", , id] = (await git.line()).split(/[ \t]/u);
    if (id === undefined) throw new GitError(`git did not write ${name}`);
    entries.push({ mode: mode.replace(/^0/u, ""), name, id });
  }
  return entries;
}

/** NAME <EMAIL>, from the environment as git reads it, without the characters that git leaves out. The first role that has a part decides. */
function identityIn(env: Environment, ...roles: readonly string[]): string {
  const part = (name: string, fallback: string): string => {
    const values = roles.map((role) => (env[`GIT_${role}_${name}`] ?? "").replaceAll(/[<>\n\0]/gu, "").trim());
    return values.find((value) => value !== "") ?? fallback;
  };
  return `${part("NAME", "dimsync")} <${part("EMAIL", "dimsync@localhost")}>`;
}

/** The message of a commit: what changes, one line per object, then the run. `git log` of the ref is the audit trail. */
export function commitMessage({ subject, changes, runId, runUrl, content }: Next): string {
  const trailers = [`Run: ${visible(runId)}`, ...(runUrl === undefined ? [] : [`Run-URL: ${visible(runUrl)}`]), `Epoch: ${content.epoch}`];
  return [subject, ...(changes.length === 0 ? [] : [changes.join("\n")]), trailers.join("\n")].join("\n\n").concat("\n");
}

/** Reads a message that `commitMessage` made; of any other message, the first line is the subject. */
export function parseMessage(message: string): Pick<RecordsChange, "runId" | "runUrl" | "subject" | "changes"> {
  const [subject = "", ...parts] = message.trimEnd().split("\n\n");
  const trailers = parts.at(-1) ?? "";
  const trailer = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "mu").exec(trailers)?.[1];
  const changes = parts.slice(0, -1).flatMap((part) => part.split("\n"));
  return { subject, changes, runId: trailer("Run") ?? "", runUrl: trailer("Run-URL") };
}
