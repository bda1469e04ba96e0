import { type GitPlace, talkToGit } from "../../base/git/process.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { visible } from "../../base/text/control-characters.ts";
import type { Next } from "../shared/store.ts";
import { printRecords } from "../text.ts";
import type { RecordsRepository } from "./repository.ts";
import type { GitStore, Tip } from "./store.ts";
import { sealFile, sealOf, textFile } from "./tree.ts";

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
