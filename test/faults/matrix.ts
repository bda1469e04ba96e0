import pLimit from "p-limit";
import { expect } from "vitest";
import type { CountedRequest } from "../../src/embedded/index.ts";
import { sampleOf, sampleSeed } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import type { SharedStore } from "./machines.ts";
import { type ClientParts, canaries, mixedProject } from "./mixed-project.ts";
import { settleAccount, unexplained } from "./settled.ts";

/** One request of an apply without faults: the NTH with this method and path. */
export interface Nth {
  readonly method: string;
  readonly path: string;
  readonly nth: number;
  /** The number of requests before it. */
  readonly before: number;
}

const patient: ClientParts = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

/**
 * Every request of the mixed apply, recorded from a run without faults: the matrix consists of the
 * requests that are sent, not of a list.
 */
export async function recordedRequests(): Promise<readonly Nth[]> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" } });
  const project = mixedProject(service, patient);
  try {
    const result = await project.apply();
    expect(result.exit).toEqual({ code: 0, reasons: [] });
    return service.requests.map((request, index, all): Nth => ({ ...request, nth: countBefore(all, index) + 1, before: index }));
  } finally {
    await service.close();
    project.remove();
  }
}

const countBefore = (all: readonly CountedRequest[], index: number): number =>
  all.slice(0, index).filter(({ method, path }) => method === all[index]?.method && path === all[index]?.path).length;

export interface Cases {
  readonly cases: number;
  /** Cases in which an outcome stayed unknown, and the user had to resolve it. */
  readonly unknown: number;
  readonly failures: readonly string[];
}

export interface MatrixOptions {
  /** The options of the apply with the fault. */
  readonly client?: Partial<ClientParts>;
  /** The next run is on another machine, which only shares this store with the first one. */
  readonly store?: SharedStore;
  /** Number of concurrent applies. Default: 1. */
  readonly lanes?: number;
}

/** Connections are refused from this request on, until the apply has ended. */
export const refusal = "refused";

/** The method, and the path without the id of the object. */
export const kindOf = ({ method, path }: Nth): string => `${method} ${path.replace(/^(\/v1\/[^/]+)\/[^/]+/u, "$1/*")}`;

const isRead = ({ method }: Nth): boolean => method === "GET";

/**
 * One request of each kind that writes, and some of those that read: after a read that failed, the
 * run continues or ends in the same way for all kinds.
 */
export const sampledRequests = (name: string, requests: readonly Nth[]): readonly Nth[] =>
  sampleOf(requests, { name, kindOf: (request) => (isRead(request) ? "GET" : kindOf(request)), most: (kind) => (kind === "GET" ? 2 : 1) });

/**
 * Applies with the fault at each sampled request in turn, one half of them without retries, and then runs again until settled: the account must be as
 * declared, with nothing created twice and no id lost.
 */
export async function disturbEach(requests: readonly Nth[], action: string, options: MatrixOptions = {}): Promise<Cases> {
  const sample = sampledRequests(action, requests);
  const found = await disturbGroups(
    sample.map((request) => [request]),
    action,
    { lanes: 3, ...options },
  );
  console.info(
    `fault matrix, ${action}: ${sample.length} of ${requests.length} requests, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
      `${found.unknown} asked the user, ${found.failures.length} failures`,
  );
  return found;
}

/** As `disturbEach`, with the fault at all requests of a group in one apply. None of them may depend on another one. */
export async function disturbGroups(groups: readonly (readonly Nth[])[], action: string, options: MatrixOptions = {}): Promise<Cases> {
  const inTurn = pLimit(options.lanes ?? 1);
  const outcomes = await Promise.all(groups.map((group, index) => inTurn(() => disturb(group, action, (index + sampleSeed) % 2, options))));
  return {
    cases: groups.flat().length,
    unknown: outcomes.filter(({ asked }) => asked).length,
    failures: outcomes.flatMap(({ wrong }) => wrong),
  };
}

async function disturb(
  group: readonly Nth[],
  action: string,
  retries: number,
  { client, store }: MatrixOptions,
): Promise<{ readonly asked: boolean; readonly wrong: readonly string[] }> {
  const faults = group.map(({ method, path, nth }) => `${method} ^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$@${nth}=${action}`);
  const before = Math.min(...group.map((request) => request.before));
  let [struck, seen] = [0, 0];
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    faults: action === refusal ? [] : faults,
    onExchange: ({ faulted }) => {
      seen += 1;
      if (faulted) struck += 1;
      if (action === refusal && seen === before) proxy.refuse();
    },
  });
  const proxy = await startTcpProxy(Number(new URL(service.url).port));
  const url = action === refusal ? `http://127.0.0.1:${proxy.port}` : service.url;
  const disturbed = { ...patient, retries, ...client };
  const machines = await store?.machines(url);
  const first = machines?.machine(disturbed) ?? mixedProject({ url }, disturbed);
  const wrong: string[] = [];
  let asked = false;
  try {
    const result = await first.apply();
    wrong.push(...unexplained(result));
    if (action === refusal ? result.exit.code === 0 : struck !== group.length) wrong.push(`the faults met ${struck} requests`);
    service.clearFaults();
    if (action === refusal) await proxy.accept();
    if (machines === undefined) first.configure(url, patient);
    const last = machines?.machine(patient) ?? first;
    const settled = await settleAccount(service, last);
    if (last !== first) last.remove();
    wrong.push(...settled.wrong, ...unbound(await machines?.boundAddresses()));
    asked = settled.resolved.length > 0;
  } catch (error) {
    wrong.push(String(error));
  } finally {
    await proxy.close();
    await service.close();
    first.remove();
  }
  return { asked, wrong: wrong.map((what) => `${faults.join(", ")}: ${what}`) };
}

/** Ids that are not in the records. */
export const unbound = (bound: readonly string[] = managed): readonly string[] =>
  managed.filter((address) => !bound.includes(address)).map((address) => `${address} is not bound`);

const managed: readonly string[] = ["Asset/archive", "Asset/lake", "Integration/returns"];
