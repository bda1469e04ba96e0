import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import type { Environment } from "../model/settings/env.ts";

/** Where and with what environment git runs. */
export interface GitPlace {
  /** Relative addresses of remotes are relative to it. */
  readonly folder: string;
  readonly env: Environment;
  /** Absent: the repository that the folder is in. */
  readonly gitDir?: string;
}

export interface GitOutput {
  /** Undefined if git was killed because its time was up. */
  readonly code: number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitCall {
  readonly input?: string | Uint8Array;
  /** In milliseconds; 30 s if absent. Then git and its helpers are killed. */
  readonly timeoutMs?: number;
  /** Kills git and its helpers when aborted, as if its time were up. */
  readonly signal?: AbortSignal | undefined;
}

/** Git could not be run, or failed. The message is what git printed, without credentials. */
export class GitError extends Error {
  override readonly name = "GitError";
}

/**
 * Runs git and returns what it printed, whatever its exit code. It runs in its own process group:
 * Ctrl-C must not end the last write of a run, and helpers such as git-remote-https must end with
 * it. Throws GitError if git can't be started.
 */
export function runGit(place: GitPlace, args: readonly string[], { input, timeoutMs = 30_000, signal }: GitCall = {}): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const all = place.gitDir === undefined ? args : ["--git-dir", place.gitDir, ...args];
    const child = spawn("git", all, { cwd: place.folder, env: place.env, detached: true, stdio: "pipe" });
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
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
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
    child.stdin.end(input ?? "");
  });
}

/** What git prints, without the line feed at its end. Throws GitError if its exit code is not 0. */
export async function gitText(place: GitPlace, args: readonly string[], call: GitCall = {}): Promise<string> {
  const { code, stdout, stderr } = await runGit(place, args, call);
  if (code !== 0) throw new GitError(wordsOf(stderr) || `git ${args[0] ?? ""} ended with ${String(code)}`);
  return stdout.toString("utf8").replace(/\n$/u, "");
}

/** What git printed, for a message: on one line, without credentials and control characters, at most 400 characters. */
export function wordsOf(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\/\/[^/@\s]*@/gu, "//")
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
