import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Environment } from "../model/settings/env.ts";
import { isSecretVariable } from "../model/settings/secret.ts";

/** Where and with what environment git runs. */
export interface GitPlace {
  /** In the checkout: git runs at its top, whatever the environment says about repositories. */
  readonly folder: string;
  readonly env: Environment;
  /** A repository elsewhere, used instead of the one of the checkout; then git runs in `folder`. */
  readonly gitDir?: string;
  /** Used instead of the index of the repository. */
  readonly indexFile?: string;
}

export interface GitOutput {
  /** Undefined if git was killed because its time was up. */
  readonly code: number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitCall {
  /** As a function: writes the input while git runs, reads the output, and ends the input. */
  readonly input?: string | Uint8Array | ((child: Pick<ChildProcessWithoutNullStreams, "stdin" | "stdout">) => void);
  /** In milliseconds; 30 s if absent. Then git and its helpers are killed. */
  readonly timeoutMs?: number;
  /** Kills git and its helpers when aborted, as if its time were up. */
  readonly signal?: AbortSignal | undefined;
}

/** Git could not be run, or failed. The message is what git printed, without credentials. */
export class GitError extends Error {
  override readonly name: string = "GitError";
}

/** The folder is in no checkout. */
export class NoCheckoutError extends GitError {
  override readonly name = "NoCheckoutError";
}

// What is checked out is data: no program may run because of it. A folder of a branch can look like a bare repository, whose configuration
// names programs, and a URL can name one too.
const settings = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "protocol.ext.allow=never",
];
const hardened = ["--no-optional-locks", "--no-replace-objects", ...settings.flatMap((setting) => ["-c", setting])];

// Set by a hook of git that runs dimsync, they would point git to another repository. The traces print credentials.
const dropped =
  /^(?:GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|SHALLOW_FILE|GRAFT_FILE|QUARANTINE_PATH|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|TRACE.*|CURL_VERBOSE|REDIRECT_.*)|LANGUAGE)$/u;

/** Of the helper that gives git the credentials of a remote. */
const ofHelper = /^DIMSYNC_GIT_(?:USERNAME|PASSWORD)$/u;

/** Whether git and what it starts may see the variable: no key of dimsync, and no source of a secret, except for what git itself needs. */
const mayRead = (name: string): boolean =>
  ofHelper.test(name) || /^(?:GIT_|PATH$|HOME$)/u.test(name) || !(name.startsWith("DIMSYNC_") || isSecretVariable(name));

/** The folder and the environment of the process. Throws GitError if the folder is in no checkout. */
async function startOf({ folder, env, gitDir, indexFile }: GitPlace): Promise<{ readonly cwd: string; readonly env: Environment }> {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.test(name) && mayRead(name)));
  const index = indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile };
  const full = { ...kept, ...index, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };
  if (gitDir !== undefined) return { cwd: folder, env: { ...full, GIT_DIR: gitDir } };
  const cwd = repositoryTop(await realpath(folder).catch(() => folder));
  if (cwd === undefined) throw new NoCheckoutError(`not a git repository (or any of the parent directories): ${folder}`);
  // Git itself finds .git, so that it checks the owner. It looks nowhere else.
  return { cwd, env: { ...full, GIT_CEILING_DIRECTORIES: dirname(cwd) } };
}

/**
 * Runs git and returns what it printed, whatever its exit code. It runs in its own process group:
 * Ctrl-C must not end the last write of a run, and helpers such as git-remote-https must end with
 * it. Throws GitError if the folder is in no checkout, or git can't be started.
 */
export async function runGit(
  place: GitPlace,
  args: readonly string[],
  { input, timeoutMs = 30_000, signal }: GitCall = {},
): Promise<GitOutput> {
  const start = await startOf(place);
  return new Promise((resolve, reject) => {
    const child = spawn("git", [...hardened, ...args], { ...start, detached: true, stdio: "pipe" });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let timedOut = false;
    const stop = (): void => {
      timedOut = true;
      killGroup(child.pid);
    };
    const timer = setTimeout(stop, timeoutMs);
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };
    if (typeof input === "function") input(child);
    else child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", (error) => {
      settle();
      reject(new GitError(`git could not be run: ${error.message}`, { cause: error }));
    });
    child.on("close", (code) => {
      settle();
      const printed = Buffer.concat(stderr).toString("utf8");
      const late = `${printed}\nno response within ${Math.round(timeoutMs / 1000)} s`;
      resolve({ code: timedOut ? undefined : (code ?? 1), stdout: Buffer.concat(stdout), stderr: timedOut ? late : printed });
    });
    // If a process ends without reading its input, only its exit code matters.
    child.stdin.on("error", () => undefined);
    if (typeof input !== "function") child.stdin.end(input ?? "");
  });
}

/** Whether there is a repository at the `gitDir` of the place. Throws GitError if git can't be started. */
export const isRepository = async (place: GitPlace & Required<Pick<GitPlace, "gitDir">>): Promise<boolean> =>
  (await runGit(place, ["rev-parse", "--resolve-git-dir", place.gitDir])).code === 0;

/** What git prints, without the line feed at its end. Throws GitError if its exit code is not 0. */
export async function gitText(place: GitPlace, args: readonly string[], call: GitCall = {}): Promise<string> {
  const { code, stdout, stderr } = await runGit(place, args, call);
  if (code !== 0) throw new GitError(wordsOf(stderr) || `git ${args[0] ?? ""} ended with ${String(code)}`);
  return stdout.toString("utf8").replace(/\n$/u, "");
}

/** A conversation with a running git. */
export interface GitTalk {
  readonly write: (text: string | Uint8Array) => void;
  /** The next line that git prints, without its line feed. Throws GitError if git ends before. */
  readonly line: () => Promise<string>;
  /** The next bytes that git prints. Throws GitError if git ends before. */
  readonly bytes: (count: number) => Promise<Buffer>;
}

/** Runs git, whose next input depends on what it printed. Throws GitError if its exit code is not 0, and what `talk` throws. */
export async function talkToGit<T>(
  place: GitPlace,
  args: readonly string[],
  talk: (git: GitTalk) => Promise<T>,
  call: Pick<GitCall, "timeoutMs"> = {},
): Promise<T> {
  let talked: Promise<T> | undefined;
  const { code, stderr } = await runGit(place, args, {
    ...call,
    input({ stdin, stdout }) {
      const { readRest, ...reader } = readerOf(stdout);
      talked = talk({ write: (text) => void stdin.write(text), ...reader });
      const end = (): void => {
        stdin.end();
        // Git ends only when its output was read.
        void readRest();
      };
      talked.then(end, end);
    },
  });
  const words = code === 0 ? "" : wordsOf(stderr) || `git ${args[0] ?? ""} ended with ${String(code)}`;
  if (words !== "" || talked === undefined) throw new GitError(words, { cause: await talked?.catch((error: unknown) => error) });
  return await talked;
}

function readerOf(stdout: Readable): Pick<GitTalk, "line" | "bytes"> & { readonly readRest: () => Promise<void> } {
  const chunks: AsyncIterator<Buffer> = stdout[Symbol.asyncIterator]();
  let kept: Buffer = Buffer.alloc(0);
  const read = async (size: number): Promise<void> => {
    const parts = [kept];
    for (let length = kept.length; length < size; ) {
      const { value, done } = await chunks.next();
      if (done === true) throw new GitError("git ended before it had printed everything");
      parts.push(value);
      length += value.length;
    }
    kept = Buffer.concat(parts);
  };
  const take = (count: number): Buffer => {
    const taken = kept.subarray(0, count);
    kept = kept.subarray(count);
    return taken;
  };
  return {
    async line() {
      while (!kept.includes(0x0a)) await read(kept.length + 1);
      return take(kept.indexOf(0x0a) + 1)
        .toString("utf8")
        .slice(0, -1);
    },
    async bytes(count) {
      await read(count);
      return take(count);
    },
    /** Nothing else reads a stream that an iterator has begun to read. */
    async readRest() {
      for (;;) if ((await chunks.next().catch(() => ({ done: true }))).done === true) return;
    },
  };
}

/** What git printed, for a message: on one line, without credentials and control characters, at most 400 characters. */
export function wordsOf(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\/\/[^/\s]*@/gu, "//")
    .replaceAll(/^(?:remote: )?hint: .*$/gmu, "")
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 400);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

/** The top folder of the git checkout that the folder is in, found by `.git` only; undefined if there is none. */
export function repositoryTop(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : repositoryTop(dirname(folder));
}

// Git ends with 128 whatever failed, and ssh and forges say no more than a line of text. So these two functions decide by what they print
// (in English: git runs with LC_ALL=C). They decide how long to try again and how to word a message, never what was written: that is read
// from the ref.

const denied =
  /error: 40[13]\b|authentication failed|could not read (?:username|password)|permission denied|access denied|host key verification failed|marked as read only|not allowed to push/iu;
const missing = /error: 404|not found|does not appear to be a git repository/iu;

/** Whether the server did not let this client in, so that it did not even look at a push. */
export const isDenied = (words: string): boolean => denied.test(words);

/** Whether reading again would fail in the same way. */
export const isHopeless = (words: string): boolean => isDenied(words) || missing.test(words);
