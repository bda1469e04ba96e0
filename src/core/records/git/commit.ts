import { createHmac, timingSafeEqual } from "node:crypto";
import { GitError, type GitPlace, type GitTalk, talkToGit } from "../../base/git/process.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { visible } from "../../base/text/control-characters.ts";
import { ContentError } from "../readers.ts";
import type { Next } from "../shared/store.ts";
import { printRecords } from "../text.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";

/**
 * Writes the commit into the local repository, and returns it as the new tip. Throws GitError, and
 * E_DIGEST_KEY (exit 1) if the records are sealed and there is no key: a run with the key refuses
 * a commit without a seal.
 */
export async function commitOn(store: GitStore, { place }: RecordsRepository, parent: Tip, next: Next): Promise<Tip> {
  const { key, id, target } = store;
  if (key === undefined && parent.isSealed) throw keyMissing(store);
  const { content } = next;
  const text = printRecords({ target, id }, content);
  const version = await writeCommit(place, { text, parent: parent.version, message: commitMessage(next), key });
  return { version, isSealed: key !== undefined, content: { ...content, state: { ...content.state, version } } };
}

const keyMissing = ({ target, place }: GitStore): DimsyncError =>
  new DimsyncError(
    "E_DIGEST_KEY",
    `The records of the target ${target} (${place}) are sealed, and DIMSYNC_DIGEST_KEY is not set. Without the key, this run can't write them, so nothing is sent. Set it to the key that the other runs use.`,
  );

interface NewCommit {
  readonly text: string;
  readonly parent: string | undefined;
  readonly message: string;
  /** Absent: no seal. */
  readonly key: string | undefined;
}

/** Writes a commit into the local repository, in one process and at no ref, and returns its id; nothing is sent. Throws GitError. */
export function writeCommit(place: GitPlace, { text, parent, message, key }: NewCommit): Promise<string> {
  const at = `${Math.floor(Date.now() / 1000)} +0000`;
  const seal = key === undefined ? [] : [fileOf(sealFile, sealOf(parent, text, key))];
  return talkToGit(place, ["fast-import", "--quiet", "--done"], async (git) => {
    const lines = [
      `commit ${branch}\nmark :1\nauthor ${identityIn(place.env, "AUTHOR")} ${at}\n`,
      `committer ${identityIn(place.env, "COMMITTER", "AUTHOR")} ${at}\n${dataOf(message)}`,
      parent === undefined ? "" : `from ${parent}\n`,
      "deleteall\n",
      ...[fileOf(textFile, text), ...seal],
      "get-mark :1\n",
    ];
    git.write(lines.join(""));
    const id = await git.line();
    // Without it, git would move a ref that processes share.
    git.write(`reset ${branch}\nfrom ${"0".repeat(id.length)}\n\ndone\n`);
    return id;
  });
}

const branch = "refs/new";

const fileOf = (name: string, text: string): string => `M 100644 inline ${name}\n${dataOf(text)}`;

/** The length is in bytes. */
const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

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

/** The run in a message that `commitMessage` made. */
export const runIn = (message: string): string => /^Run: (.*)$/mu.exec(message.trimEnd().split("\n\n").at(-1) ?? "")?.[1] ?? "";

// The tree of a commit has two files: `records`, the text (text.ts), and `seal`, if there is a key.

const textFile = "records";
const sealFile = "seal";

export interface ReadCommit {
  readonly id: string;
  /** Read from the commit, because git shows no parent at the end of a shallow history. */
  readonly parent: string | undefined;
  readonly subject: string;
  readonly text: string;
  readonly seal: string | undefined;
}

/** Reads the commit with that name, in one process. Throws GitError and ContentError. */
export const readCommit = (place: GitPlace, name: string): Promise<ReadCommit> =>
  // Git has no large object in memory as a whole.
  talkToGit(place, ["-c", "core.bigFileThreshold=8m", "cat-file", "--batch"], async (git) => {
    const commit = await readObject(git, name);
    if (commit === undefined) throw new GitError(`the object ${name} of the records is missing`);
    const { id, content } = commit;
    // Not through the name: another process may fetch meanwhile.
    const [text, seal] = [await readObject(git, `${id}:${textFile}`), await readObject(git, `${id}:${sealFile}`)];
    if (text === undefined) throw new ContentError(`the commit ${id} has no file ${textFile}`);
    const [header = "", message = ""] = content.split("\n\n", 2);
    return {
      id,
      parent: /^parent ([0-9a-f]+)$/mu.exec(header)?.[1],
      subject: message.split("\n")[0] ?? "",
      text: text.content,
      seal: seal?.content,
    };
  });

/** Everybody who may push can write the ref: a blob of zeros costs them nothing. */
const mostBytes = 64 * 1024 * 1024;

/** Undefined if there is none. Git names the size of an object before its content, which is not read if it is too large. */
async function readObject(git: GitTalk, name: string): Promise<{ readonly id: string; readonly content: string } | undefined> {
  git.write(`${name}\n`);
  const [id = "", , size] = (await git.line()).split(" ");
  if (size === undefined) return undefined;
  if (Number(size) > mostBytes) throw new ContentError(`a file of the commit has more than ${mostBytes} bytes, and no more are read`);
  const content = (await git.bytes(Number(size))).toString("utf8");
  await git.line();
  return { id, content };
}

// A ref can't be protected against users who may push. With DIMSYNC_DIGEST_KEY each commit carries
// an HMAC over its parent and its text, so that dimsync notices a commit without the key. Moving
// the ref back to an older sealed commit is not noticed.

/** The seal of a commit with this text. */
export const sealOf = (parent: string | undefined, text: string, key: string): string =>
  `hmac-sha256:${createHmac("sha256", key)
    .update(`dimsync records 1\n${parent ?? ""}\n${text}`)
    .digest("hex")}\n`;

/** Whether the seal in a commit is correct. */
export function sealMatches(seal: string | undefined, expected: string): boolean {
  const [actual, wanted] = [Buffer.from(seal ?? ""), Buffer.from(expected)];
  return actual.length === wanted.length && timingSafeEqual(actual, wanted);
}
