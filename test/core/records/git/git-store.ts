import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { initGitRecords, openGitRecords } from "../../../../src/core/records/git/index.ts";
import type { GitStoreOptions } from "../../../../src/core/records/git/store.ts";
import type { Records, RecordsRun } from "../../../../src/core/records/records.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { type GitHttp, gitHttp } from "../../../support/git/http.ts";
import { type GitRemote, git, gitRemote } from "../../../support/git/remote.ts";

export const ref = "refs/dimsync/prod";

/** A store in a remote over HTTP, with faults on request. */
export interface HttpStore {
  readonly remote: GitRemote;
  readonly http: GitHttp;
  readonly id: string;
  /** Opens it from a new clone. */
  readonly open: (options?: Partial<GitStoreOptions>) => Records;
}

const defaults = { target: "prod", remote: "origin", ref, ttlMs: 60_000, key: undefined, env: gitEnv };

export async function httpStore(options: Partial<GitStoreOptions> = {}): Promise<HttpStore> {
  const { remote, id } = await remoteWithRecords(options);
  const http = await gitHttp(remote.bare);
  onTestFinished(() => http.close());
  return {
    remote,
    http,
    id,
    open: (more = {}) => openOn(more.folder ?? remote.clone(http.url), { ...defaults, ...options, id, ...more }),
  };
}

/** A store in a bare repository on disk. */
export async function diskStore(options: Partial<GitStoreOptions> = {}): Promise<Omit<HttpStore, "http">> {
  const { remote, id } = await remoteWithRecords(options);
  return { remote, id, open: (more = {}) => openOn(more.folder ?? remote.clone(), { ...defaults, ...options, id, ...more }) };
}

/** What a machine has for itself, by its clone: dimsync keeps its copies of records there. */
export function machineEnv(folder: string): Readonly<Record<string, string>> {
  const RUNNER_TEMP = `${folder}-temp`;
  mkdirSync(RUNNER_TEMP, { recursive: true });
  return { RUNNER_TEMP };
}

const openOn = (folder: string, options: Omit<GitStoreOptions, "folder">): Records =>
  openGitRecords({ ...options, folder, env: { ...machineEnv(folder), ...options.env } });

interface Template {
  readonly bare: string;
  readonly id: string;
}

/** By the options: once per process and removed after all tests, because creating records takes as long as a short run. */
const templates = new Map<string, Promise<Template>>();

/** A remote with empty records, and their id. */
async function remoteWithRecords(options: Partial<GitStoreOptions>): Promise<{ readonly remote: GitRemote; readonly id: string }> {
  const which = JSON.stringify(options);
  const template = templates.get(which) ?? initTemplate(options);
  templates.set(which, template);
  const { bare, id } = await template;
  const remote = gitRemote();
  // What is there already is the same, and objects are read-only.
  cpSync(bare, remote.bare, { recursive: true, force: false });
  return { remote, id };
}

async function initTemplate(options: Partial<GitStoreOptions>): Promise<Template> {
  const remote = gitRemote();
  const id = await initGitRecords({ ...defaults, ...options, folder: remote.clone() });
  const bare = mkdtempSync(join(tmpdir(), "template-"));
  cpSync(remote.bare, bare, { recursive: true });
  return { bare, id };
}

/** Starts a run that is released when the test ends. */
export async function begun(records: Records, runId = "run-1"): Promise<RecordsRun> {
  const run = await records.begin({ runId, waitMs: 0 });
  onTestFinished(() => run.release().catch(() => undefined));
  return run;
}

/** A commit with other files at the ref, made by hand. */
export function rewrite({ remote }: Pick<HttpStore, "remote">, change: (folder: string) => void): void {
  const folder = remote.clone();
  git(folder, "fetch", "--quiet", "origin", ref);
  git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD");
  change(folder);
  git(folder, "commit", "--quiet", "--all", "--allow-empty", "-m", "by hand");
  git(folder, "push", "--quiet", "--force", "origin", `HEAD:${ref}`);
}

/** Writes a file and stages it. */
export function writeText(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  git(folder, "add", path);
}
