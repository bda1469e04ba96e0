import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openGitRecords } from "../../src/records/git/index.ts";
import { initGitRecords } from "../../src/records/git/init.ts";
import type { Records } from "../../src/records/records.ts";
import { builtCli } from "../cli/built-cli.ts";
import { gitHttp } from "../support/git-http.ts";
import { gitRemote } from "../support/git-remote.ts";
import { startService } from "../support/service.ts";
import { startCli } from "./cli-process.ts";
import { canaries, type MixedProject, projectIn, sharedFiles } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const client = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };
const env = { ...canaries, PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const ref = "refs/dimsync/test";

/** The mixed project on machines that share a ref of their remote, and nothing else. */
async function machinesFor(serviceUrl: string) {
  const remote = gitRemote();
  const http = await gitHttp(remote.bare);
  const options = { target: "test", remote: "origin", ref, ttlMs: 30_000, key: undefined, env };
  const id = await initGitRecords({ ...options, folder: remote.clone(http.url) });
  const records = (folder: string): Records => openGitRecords({ ...options, folder, id });
  const machine = (): MixedProject => {
    const folder = remote.clone(http.url);
    for (const [path, text] of Object.entries(sharedFiles(serviceUrl, client, { git: { ref, id }, ttl: "30s" }))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return projectIn(folder, env, ["--force", "--reason", "the process was killed"]);
  };
  const first = machine();
  const run = await records(first.folder).begin({ runId: "setup", waitMs: 0 });
  await run.bind("Asset/lake", { id: "d-13", secretVersion: 1 });
  await run.release();
  return { http, machine, first, records };
}

interface Killed {
  /** False if the apply ended before it came to that request. */
  readonly killed: boolean;
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

/** Kills apply on one machine; a person ends its lease; another machine finishes. `begin` says when to kill, and returns a clean-up. */
async function killedThenElsewhere(
  nth: number,
  place: "before a request" | "after a request" | "before a push" | "after a push",
): Promise<Killed> {
  let seen = 0;
  let kill = (): void => undefined;
  const isRequest = place.endsWith("request");
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    faults: place === "before a request" ? [`* .@${nth}=reset-before`] : [],
    onExchange: () => {
      seen += 1;
      if (isRequest && seen === nth) kill();
    },
  });
  const { http, machine, first, records } = await machinesFor(service.url);
  let pushes = 0;
  http.setFault(({ service: asked, isListing }) => {
    if (isRequest || asked !== "receive-pack" || isListing) return undefined;
    pushes += 1;
    if (pushes !== nth) return undefined;
    kill();
    return place === "before a push" ? "reset" : undefined;
  });
  try {
    const { process: child, ended } = startCli(builtCli, ["apply", "--yes", "-q"], first.folder, env);
    kill = () => void child.kill("SIGKILL");
    const { signal } = await ended;
    if (signal !== "SIGKILL") return { killed: false, asked: false, wrong: [] };
    service.clearFaults();
    http.setFault(() => undefined);
    const other = machine();
    await records(other.folder).unlock();
    const { resolved, wrong } = await settleAccount(service, other);
    const { bindings } = await records(machine().folder).read();
    const bound = ["Asset/archive", "Asset/lake", "Integration/returns"].filter((address) => !bindings.has(address));
    const all = [...wrong, ...bound.map((address) => `${address} is not bound`)];
    return { killed: true, asked: resolved.length > 0, wrong: all.map((what) => `${place} ${nth}: ${what}`) };
  } finally {
    await service.close();
    await http.close();
  }
}

/** Cases from `from` on, every `step`th, until the apply ends before it comes to one. */
async function killAll(place: Parameters<typeof killedThenElsewhere>[1], from: number, step: number): Promise<readonly Killed[]> {
  const found: Killed[] = [];
  for (let nth = from; ; nth += step) {
    const outcome = await killedThenElsewhere(nth, place);
    if (!outcome.killed) break;
    found.push(outcome);
  }
  const asked = found.filter((outcome) => outcome.asked).length;
  const failures = found.flatMap(({ wrong }) => wrong);
  console.info(`SIGKILL ${place}, another machine finishes: ${found.length} cases, ${asked} asked a person, ${failures.length} failures`);
  return found;
}

describe("SIGKILL on one machine: another one finishes, and nothing is there twice or lost", () => {
  for (const [place, from, step, least] of [
    ["before a request", 2, 3, 9],
    ["after a request", 1, 3, 9],
    ["before a push", 1, 1, 2],
    ["after a push", 1, 1, 2],
  ] as const)
    it(place, { timeout: 600_000 }, async () => {
      const outcomes = await killAll(place, from, step);
      expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(outcomes.length).toBeGreaterThanOrEqual(least);
    });
});
