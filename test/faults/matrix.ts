import { existsSync, utimesSync } from "node:fs";
import { expect } from "vitest";
import { recordsFile } from "../../src/core/records/folder/index.ts";
import { type CountedRequest, type EmbeddedOptions, seedAccount } from "../../src/embedded/index.ts";
import { dimsync, ended, startCli } from "../cli/built-cli.ts";
import { inForm, type ServiceForm, startService, type TestService } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { operationsIn } from "./cli-process.ts";
import type { Machines, Store } from "./machines.ts";
import { type ClientParts, canaries, type MixedProject, mixedProject } from "./mixed-project.ts";
import { settleAccount, unexplained } from "./settled.ts";

/** One request of an apply without faults: the NTH with this method and path. */
export interface Nth {
  readonly method: string;
  readonly path: string;
  readonly nth: number;
  /** The number of requests before it. */
  readonly before: number;
}

export const patient: ClientParts = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

/** The same account in each form. */
const openService = (form: ServiceForm, options: EmbeddedOptions = {}): Promise<TestService> =>
  startService({
    ...inForm(form),
    ids: "short",
    extended: true,
    settingsLag: 1,
    state: seedAccount(),
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    ...options,
  });

/**
 * Every request of the mixed apply, recorded from a run without faults: the matrix consists of the
 * requests that are sent, not of a list.
 */
export async function recordedRequests(form: ServiceForm = "camel"): Promise<readonly Nth[]> {
  const service = await openService(form);
  const project = mixedProject(service, patient);
  try {
    const result = await project.apply();
    expect(result.exit).toEqual({ code: 0, reasons: [] });
    // Their order is another one in each run; that of the result is not, so that samples are the same.
    return service.requests
      .map((request, index, all): Nth => ({ ...request, nth: countBefore(all, index) + 1, before: index }))
      .sort((a, b) => kindOf(a).localeCompare(kindOf(b)) || a.path.localeCompare(b.path) || a.nth - b.nth);
  } finally {
    await service.close();
    project.remove();
  }
}

const countBefore = (all: readonly CountedRequest[], index: number): number =>
  all.slice(0, index).filter(({ method, path }) => method === all[index]?.method && path === all[index]?.path).length;

/** An operation by which a run changes a file of its records; the NTH, from 1. */
export interface FileWrite {
  readonly nth: number;
  /** Such as "rename dimsync.bindings.yaml.*.tmp". */
  readonly operation: string;
}

/** A create that can't be looked up, two that can, and relations: every record that dimsync keeps is written. What is left out is done afterwards. */
const applyPart = [
  "apply",
  "--yes",
  "-q",
  "--only",
  "Asset/archive",
  "--only",
  "Integration/returns",
  "--only",
  "Tag/gold#m-1",
  "--only",
  "Tag/audit",
];

const preload = (parameters: string): string => new URL(`./kill-at.mjs?${parameters}`, import.meta.url).href;

/** Every operation by which an undisturbed apply changes a file of records in the folder. */
export async function recordedFileWrites(program: string, form: ServiceForm): Promise<readonly FileWrite[]> {
  const service = await openService(form);
  const project = mixedProject(service, patient);
  try {
    const nodeArgs = ["--import", preload("at=0")];
    const { code, stderr } = await dimsync(applyPart, { cwd: project.folder, env: canaries, program, nodeArgs });
    expect(code, stderr).toBe(0);
    return operationsIn(stderr).map((operation, index) => ({ nth: index + 1, operation }));
  } finally {
    await service.close();
    project.remove();
  }
}

/** The connection is cut before the service reads the request, and new ones are refused until the apply has ended. */
export const refusal = "refused";

/** The method, and the path without the id of the object. */
export const kindOf = ({ method, path }: Nth): string => `${method} ${path.replace(/^(\/v1\/[^/]+)\/[^/]+/u, "$1/*")}`;

/** "during": an operation on a file is half done. */
export type Moment = "before" | "after" | "during";

/** One fault in one apply of a service. */
export type Disturbance = {
  readonly form: ServiceForm;
} /** `fault`: what the service does with the request, or `refusal`. `retries`: of the client. */ & (
  | { readonly at: Nth; readonly fault: string; readonly retries: number }
  /** SIGKILL at a request, a write to the records on a server (the NTH, from 1), or an operation on a file. */
  | { readonly at: Nth | number | FileWrite; readonly kill: Moment }
);

export interface Outcome {
  /** False if apply ended before the request or write. */
  readonly struck: boolean;
  /** The user had to resolve an unknown outcome. */
  readonly asked: boolean;
  readonly wrong: readonly string[];
}

/**
 * Applies with the fault, and then runs again until settled, on the machine that the store allows: the
 * account must be as declared, with nothing created twice and no id lost. `program`: the command line.
 */
export async function disturb(store: Store, disturbance: Disturbance, program: string): Promise<Outcome> {
  const { at } = disturbance;
  const isRequest = typeof at === "object" && "path" in at;
  const place = typeof at === "number" ? `write ${at}` : isRequest ? `${at.method} ${at.path} ${at.nth}` : `${at.operation} ${at.nth}`;
  const name = `${store.name}, ${disturbance.form}, ${"kill" in disturbance ? `SIGKILL ${disturbance.kill}` : disturbance.fault}, ${place}`;
  let onRequest: (seen: number, faulted: boolean) => void = () => undefined;
  let seen = 0;
  const service = await openService(disturbance.form, {
    faults: serviceFaults(disturbance),
    onExchange: ({ faulted }) => onRequest(++seen, faulted),
  });
  const proxy = await startTcpProxy(Number(new URL(service.url).port));
  const isRefused = "fault" in disturbance && disturbance.fault === refusal;
  const url = isRefused ? `http://127.0.0.1:${proxy.port}` : service.url;
  let machines: Machines | undefined;
  try {
    machines = await store.machines(url);
    const onEach = (listener: typeof onRequest): void => {
      onRequest = listener;
    };
    const world = { store, machines, proxy, program, onEach };
    const { struck, wrong } = "kill" in disturbance ? await killed(world, disturbance) : await failed(world, disturbance);
    if (!struck) return { struck, asked: false, wrong };
    service.clearFaults();
    if (isRefused) await proxy.accept();
    const end = await settledElsewhere(service, machines, "kill" in disturbance);
    const all = [...wrong, ...end.wrong, ...wrongSchedule(service, disturbance)];
    return { struck, asked: end.asked, wrong: all.map((what) => `${name}: ${what}`) };
  } catch (error) {
    return { struck: true, asked: false, wrong: [`${name}: ${String(error)}`] };
  } finally {
    await proxy.close();
    await service.close();
    machines?.remove();
  }
}

interface World {
  readonly store: Store;
  readonly machines: Machines;
  readonly proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  readonly program: string;
  /** Calls the listener after each request from now on. */
  readonly onEach: (listener: (seen: number, faulted: boolean) => void) => void;
}

function serviceFaults(disturbance: Disturbance): readonly string[] {
  if ("kill" in disturbance) {
    const { at, kill } = disturbance;
    return typeof at === "object" && "path" in at && kill === "before" ? [`* .@${at.before + 1}=reset-before`] : [];
  }
  const { at, fault } = disturbance;
  // In another order each time: the request of this number, whichever it is.
  if (fault === refusal) return [`* .@${at.before + 1}=reset-before`];
  // The id of a new object depends on what was created before it. Those of the seed are shorter.
  const path = at.path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/^(\/v1\/\w+\/)[^/]{5,}/u, "$1[^/]{5,}");
  return [`${at.method} ^${path}$@${at.nth}=${fault}`];
}

/** An apply in this process, with a fault of a request. */
async function failed(
  { machines, proxy, onEach }: World,
  { fault, retries }: Extract<Disturbance, { readonly fault: string }>,
): Promise<Pick<Outcome, "struck" | "wrong">> {
  let struck = 0;
  onEach((_, faulted) => {
    if (!faulted) return;
    struck += 1;
    if (fault === refusal) proxy.refuse();
  });
  const slow = fault.startsWith("delay") ? { timeoutSeconds: 1 } : {};
  const result = await machines.machine({ ...patient, retries, ...slow }).apply();
  return { struck: true, wrong: [...(struck === 1 ? [] : [`the fault struck ${struck} requests`]), ...unexplained(result)] };
}

/** An apply in a process that gets a SIGKILL. */
async function killed(
  { store, machines, program, onEach }: World,
  { at, kill }: Extract<Disturbance, { readonly kill: Moment }>,
): Promise<Pick<Outcome, "struck" | "wrong">> {
  const { folder, env } = machines.machine(patient);
  let end = (): void => undefined;
  if (typeof at === "number")
    store.onWrite((write) => {
      if (write !== at) return undefined;
      end();
      return kill === "after" ? "after" : "before";
    });
  const isFile = typeof at === "object" && "operation" in at;
  if (typeof at === "object" && "path" in at) onEach((seen) => void (seen === at.before + 1 && end()));
  const nodeArgs = isFile ? ["--import", preload(`at=${at.nth}&torn=${kill === "during" ? 1 : 0}`)] : [];
  const argv = isFile ? applyPart : ["apply", "--yes", "-q"];
  const child = startCli(argv, { cwd: folder, env, program, nodeArgs });
  end = () => void child.kill("SIGKILL");
  const { signal, code, stderr } = await ended(child);
  store.onWrite(() => undefined);
  if (signal === "SIGKILL") {
    if (kill === "during") ageLock(folder);
    return { struck: true, wrong: [] };
  }
  const isReached = isFile && operationsIn(stderr).length >= at.nth;
  return { struck: false, wrong: isReached ? [`the process ended by itself with ${code}: ${stderr}`] : [] };
}

/** Sets the last heartbeat back by ten minutes. */
function ageLock(folder: string): void {
  const file = recordsFile(folder, "test");
  const then = Date.now() / 1000 - 600;
  if (existsSync(file)) utimesSync(file, then, then);
}

/** A schedule that shows late must be sent, and not again unless the outcome of its request is unknown. Only the observed service shows one. */
function wrongSchedule(service: TestService, disturbance: Disturbance): readonly string[] {
  if (disturbance.form !== "observed") return [];
  const isPatch = ({ method, path }: Pick<Nth, "method" | "path">): boolean => method === "PATCH" && path === "/v1/integrations/8f1c";
  const isUnclear = "kill" in disturbance || isPatch(disturbance.at);
  const sent = service.requests.filter(isPatch).length;
  const frequency = service.state().integrations.find(({ id }) => id === "8f1c")?.settings.replicationFrequency;
  return [
    ...(frequency === "1440" ? [] : [`orders is replicated every ${frequency} minutes`]),
    ...(isUnclear || sent === 1 ? [] : [`the schedule was sent ${sent} times`]),
  ];
}

async function settledElsewhere(service: TestService, machines: Machines, wasKilled: boolean): Promise<Omit<Outcome, "struck">> {
  // As a user does.
  if (wasKilled) await machines.unlock();
  const next: MixedProject = machines.machine(patient);
  const { resolved, wrong } = await settleAccount(service, next);
  return { asked: resolved.length > 0, wrong: [...wrong, ...unbound(await machines.boundAddresses())] };
}

/** Ids that are not in the records. */
export const unbound = (bound: readonly string[]): readonly string[] =>
  managed.filter((address) => !bound.includes(address)).map((address) => `${address} is not bound`);

const managed: readonly string[] = ["Asset/archive", "Asset/lake", "Integration/returns", "Tag/audit"];
