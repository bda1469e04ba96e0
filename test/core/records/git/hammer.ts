import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { initGitRecords, openGitRecords } from "../../../../src/core/records/git/index.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { type GitFault, gitHttp } from "../../../support/git/http.ts";
import { git, gitRemote } from "../../../support/git/remote.ts";
import { randomOf } from "../../../support/sample.ts";

// Machines that take the lease and create the same objects, over a connection that fails in every
// way, while they are killed and frozen. At the end, counts broken guarantees.

export interface HammerOptions {
  /** The compiled worker. */
  readonly program: string;
  readonly seed: number;
  readonly seconds: number;
  readonly machines: number;
  /** The time-to-live of the lease. A third of it limits each write, so a slow machine needs a longer one. */
  readonly ttlMs: number;
  /** The fault of affected pushes. */
  readonly faults?: readonly GitFault[];
  /** The fraction of pushes with a fault. */
  readonly faultRate?: number;
  /** Of the test: ends early if the test reached its timeout. */
  readonly signal: AbortSignal;
}

const allFaults: readonly GitFault[] = ["lost", "late", "twice", "twice", "reset", 429, 503];

export interface HammerReport {
  readonly commits: number;
  readonly intended: number;
  readonly created: number;
  readonly kills: number;
  readonly freezes: number;
  readonly faults: number;
  readonly failed: Readonly<Record<string, number>>;
  /** Intents that were acknowledged but are not stored. */
  readonly lost: readonly string[];
  /** Objects that the service created twice. */
  readonly doubledCreates: readonly string[];
  /** Ids that a run recorded before it ended, but that are not bound. */
  readonly lostIds: readonly string[];
  /** Intents that a run left open although it ended and never sent them. */
  readonly leftOpen: readonly string[];
}

const ref = "refs/dimsync/prod";

interface WorkerEvent {
  readonly type: "intended" | "created" | "ended" | "failed";
  readonly entryId?: string;
  readonly address?: string;
  readonly id?: string;
  readonly runId?: string;
  readonly sent?: readonly string[];
  readonly code?: string;
}

export async function hammer(options: HammerOptions): Promise<HammerReport> {
  const { ttlMs } = options;
  const random = randomOf(options.seed);
  const remote = gitRemote();
  const http = await gitHttp(remote.bare, 700);
  const service = await createService(random);
  const store = { target: "prod", remote: "origin", ref, ttlMs, key: undefined, env: gitEnv };
  const id = await initGitRecords({ ...store, folder: remote.clone(http.url) });
  const events: WorkerEvent[] = [];
  const children = new Set<ChildProcess>();
  const killAll = (): void => {
    for (const child of children) child.kill("SIGKILL");
  };
  onTestFinished(killAll);
  const counts = { kills: 0, freezes: 0, faults: 0 };

  const startMachine = (folder: string): ChildProcess => {
    const child = spawn(process.execPath, [options.program, folder, id, service.url, ref, String(ttlMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.add(child);
    child.on("exit", (code) => void (code !== null && events.push({ type: "failed", code: `exit ${code}` })));
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) events.push(JSON.parse(line) as WorkerEvent);
    });
    return child;
  };
  let machines = Array.from({ length: options.machines }, () => {
    const folder = remote.clone(http.url);
    return { folder, child: startMachine(folder) };
  });

  let outageUntil = 0;
  http.setFault(({ service: asked, isListing }): GitFault | undefined => {
    if (Date.now() < outageUntil) return 503;
    if (asked !== "receive-pack" || isListing || random() > (options.faultRate ?? 0.25)) return undefined;
    counts.faults += 1;
    const faults = options.faults ?? allFaults;
    return faults[Math.floor(random() * faults.length)];
  });
  const end = Date.now() + options.seconds * 1000;
  const ends = (): number => events.filter(({ type }) => type === "ended" || type === "failed").length;
  // A broken machine may never create anything, but each of its runs ends.
  const isEnough = (): boolean => ends() >= options.machines || (counts.faults > 0 && events.some(({ type }) => type === "created"));
  while (!options.signal.aborted && (Date.now() < end || !isEnough())) {
    await sleep(500 + random() * 1_500);
    // On a slow machine, no run may have ended yet. From now on none is killed.
    if (Date.now() >= end) continue;
    const victim = Math.floor(random() * machines.length);
    const { folder, child } = machines[victim] ?? { folder: "", child: undefined };
    const what = random();
    if (what < 0.3) {
      counts.kills += 1;
      child?.kill("SIGKILL");
      // Half of them restart on the same disk.
      const next = random() < 0.5 ? folder : remote.clone(http.url);
      machines = machines.with(victim, { folder: next, child: startMachine(next) });
    } else if (what < 0.5) {
      counts.freezes += 1;
      child?.kill("SIGSTOP");
      const frozenMs = random() < 0.5 ? ttlMs * 1.5 : ttlMs / 3;
      setTimeout(() => child?.kill("SIGCONT"), frozenMs);
    } else if (what < 0.55) outageUntil = Date.now() + 2_000;
  }
  killAll();
  await sleep(1_500);
  await http.settled();
  http.setFault(() => undefined);
  try {
    const { bindings, open } = await openGitRecords({ ...store, id, folder: remote.clone(http.url) }).read();
    const stored = intendedCreates(remote.bare);
    const ended = new Map(events.flatMap(({ type, runId = "", sent = [] }) => (type === "ended" ? [[runId, sent] as const] : [])));
    const created = events.filter(({ type }) => type === "created");
    const intended = events.filter(({ type }) => type === "intended");
    const failures = events.filter(({ type }) => type === "failed").map(({ code = "" }) => code);
    return {
      ...counts,
      commits: Number(git(remote.bare, "rev-list", "--count", ref)),
      intended: intended.length,
      created: service.created().size,
      failed: Object.fromEntries([...new Set(failures)].map((code) => [code, failures.filter((one) => one === code).length])),
      lost: intended.flatMap(({ entryId = "", address }) => (stored.has(entryId) ? [] : [`${address} ${entryId}`])),
      doubledCreates: [...service.created()].flatMap(([key, count]) => (count > 1 ? [`${key} × ${count}`] : [])),
      lostIds: created.flatMap(({ address = "", id: liveId, entryId = "" }) =>
        ended.has(stored.get(entryId) ?? "") && bindings.get(address)?.id !== liveId ? [`${address}=${liveId}`] : [],
      ),
      leftOpen: open.flatMap(({ runId, address }) => (ended.get(runId)?.includes(address) === false ? [`${address} of ${runId}`] : [])),
    };
  } finally {
    await http.close();
    await service.close();
  }
}

/** The run of each create that a commit of the ref's history has stored, by entry id. */
function intendedCreates(bare: string): ReadonlyMap<string, string> {
  const text = git(bare, "log", "-p", "--reverse", "--format=", ref, "--", "records");
  const lines = text.split("\n").filter((line) => line.startsWith('+["open"'));
  return new Map(
    lines.map((line) => {
      const [, { entryId, runId }] = JSON.parse(line.slice(1)) as readonly [string, Readonly<Record<"entryId" | "runId", string>>];
      return [entryId, runId] as const;
    }),
  );
}

/** A service that counts what it creates, and loses some responses. */
async function createService(random: () => number) {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = (request.url ?? "").split("?")[0]?.slice(1) ?? "";
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (random() < 0.1) request.socket.destroy();
    else setTimeout(() => response.end(`id-${key}-${counts.get(key) ?? 0}`), random() * 100);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    created: (): ReadonlyMap<string, number> => counts,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
