import { expect } from "vitest";
import type { CountedRequest, EmbeddedService } from "../../src/embedded/index.ts";
import { startService } from "../support/service.ts";
import { type ClientParts, canaries, mixedProject } from "./mixed-project.ts";
import { settleAccount, unexplained } from "./settled.ts";

/** One request of the undisturbed apply: the NTH with this method and path. */
interface Nth {
  readonly method: string;
  readonly path: string;
  readonly nth: number;
}

const patient: ClientParts = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

const start = (faults: readonly string[] = [], onFault?: () => void): Promise<EmbeddedService> =>
  startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    faults,
    onExchange: ({ faulted }) => {
      if (faulted) onFault?.();
    },
  });

/** Every request of the mixed apply, recorded from a run without faults: the matrix is made of what is sent, not of a list. */
export async function recordedRequests(): Promise<readonly Nth[]> {
  const service = await start();
  const project = mixedProject(service, patient);
  try {
    const result = await project.apply();
    expect(result.exit).toEqual({ code: 0, reasons: [] });
    return service.requests.map((request, index, all): Nth => ({ ...request, nth: countBefore(all, index) + 1 }));
  } finally {
    await service.close();
    project.remove();
  }
}

const countBefore = (all: readonly CountedRequest[], index: number): number =>
  all.slice(0, index).filter(({ method, path }) => method === all[index]?.method && path === all[index]?.path).length;

export interface Cases {
  readonly cases: number;
  /** Cases in which an outcome stayed unknown, and a person had to be asked. */
  readonly unknown: number;
  readonly failures: readonly string[];
}

/**
 * Applies with the fault at each request in turn, every second time without retries, and then runs again until settled: the account must be as
 * declared, with nothing created twice.
 */
export async function disturbEach(requests: readonly Nth[], action: string, client: Partial<ClientParts> = {}): Promise<Cases> {
  let unknown = 0;
  const failures: string[] = [];
  for (const [index, { method, path, nth }] of requests.entries()) {
    const fault = `${method} ^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$@${nth}=${action}`;
    let struck = 0;
    const service = await start([fault], () => {
      struck += 1;
    });
    const project = mixedProject(service, { ...patient, retries: index % 2, ...client });
    const wrong: string[] = [];
    try {
      const result = await project.apply();
      wrong.push(...unexplained(result));
      if (struck !== 1) wrong.push(`the fault met ${struck} requests`);
      service.clearFaults();
      project.configure(service.url, patient);
      const settled = await settleAccount(service, project);
      wrong.push(...settled.wrong);
      if (settled.resolved.length > 0) unknown += 1;
    } catch (error) {
      wrong.push(String(error));
    } finally {
      await service.close();
      project.remove();
    }
    failures.push(...wrong.map((what) => `${fault}: ${what}`));
  }
  return { cases: requests.length, unknown, failures };
}
