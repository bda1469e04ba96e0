import { createHmac, timingSafeEqual } from "node:crypto";
import { GitError, type GitPlace, type GitTalk, talkToGit } from "../../base/git/process.ts";
import { ContentError } from "../readers.ts";

// The tree of a commit has two files: `records`, the text (text.ts), and `seal`, if there is a key.

export const textFile = "records";
export const sealFile = "seal";

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
