import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readAccount } from "../../../src/features/controller/accounts.ts";
import { openStore } from "../../../src/features/controller/database.ts";
import { builtCli, ended, startCli } from "../../cli/built-cli.ts";
import { git } from "../../support/git/remote.ts";
import { controlledProject, type Project } from "./world.ts";

// Workers as processes of their own, and what they store.

export interface Process {
  readonly child: ChildProcess;
  readonly log: () => string;
  readonly end: ReturnType<typeof ended>;
  /** Its checkout. */
  readonly clone: string;
}

/** A worker on a machine of its own: a clone of the checkout. `diskSize`: of a disk of its own for `.dimsync`, such as "64m". */
export function startProcess(
  { folder, env }: Project,
  more: Readonly<Record<string, string>> = {},
  { diskSize }: { readonly diskSize?: string } = {},
): Process {
  const clone = mkdtempSync(join(tmpdir(), "dimsync-clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  git(folder, "clone", "--quiet", folder, clone);
  const args = ["controller", "--listen", "127.0.0.1:0"];
  const script = `mkdir .dimsync && mount -t tmpfs -o size=${diskSize} tmpfs .dimsync && exec "$@"`;
  const child =
    diskSize === undefined
      ? startCli(args, { cwd: clone, env: { ...env, ...more } })
      : spawn("unshare", ["-rm", "sh", "-c", script, "sh", process.execPath, builtCli, ...args], { cwd: clone, env: { ...env, ...more } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stderr?.on("data", (chunk) => {
    text += chunk;
  });
  return { child, clone, log: () => text, end: ended(child) };
}

/** What the workers store in their database. */
export async function stored({ url = "", folder }: Project) {
  const database = await openStore(url, folder);
  onTestFinished(() => database.close());
  return {
    row: (target = "test") => readAccount(database, target),
    /** Every account is due now. */
    due: () => database.rows("update dimsync_controller.account set next_at = now() returning 1 as one"),
    /** The last heartbeats of the workers that check an account are a minute older. */
    ageHeartbeats: () =>
      database.rows("update dimsync_queue.job set heartbeat_on = heartbeat_on - interval '1 minute' where state = 'active'"),
    sql: (text: string) => database.rows<Record<string, unknown>>(text),
  };
}

/** `controlledProject` with PostgreSQL. */
export const project = (options: Partial<Parameters<typeof controlledProject>[0]> = {}) =>
  controlledProject({ database: "postgresql", ...options });

/** How many requests hashed a column. */
export const hashesIn = (under: Project): number => under.service.requests.filter(({ method }) => method === "PATCH").length;
