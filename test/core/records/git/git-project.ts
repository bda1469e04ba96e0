import { onTestFinished } from "vitest";
import type { EmbeddedOptions, EmbeddedService } from "../../../../src/embedded/index.ts";
import { startService } from "../../../support/service.ts";
import { apiKey, type Machine, projectOn } from "../project.ts";
import { type HttpStore, httpStore, machineEnv, ref } from "./git-store.ts";

/** A clone of the repository with the project in it. */
export interface GitMachine extends Machine {
  /** Pushes and listings of refs since the last call. */
  readonly counts: () => { readonly reads: number; readonly pushes: number };
}

export interface Machines {
  readonly store: HttpStore;
  readonly service: EmbeddedService;
  /** A new clone with the project in it. */
  readonly machine: (manifests: string) => GitMachine;
  readonly creates: () => readonly string[];
}

/** A service, and machines that only share the remote of their clones. */
export async function machines(options: EmbeddedOptions = {}): Promise<Machines> {
  const store = await httpStore();
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" }, ...options });
  onTestFinished(() => service.close());
  return {
    ...{ store, service },
    machine(manifests) {
      const folder = store.remote.clone(store.http.url);
      const parts = { baseUrl: service.url, manifests, records: { git: { ref, id: store.id } }, env: machineEnv(folder) };
      let before = store.http.counts();
      return {
        ...projectOn(folder, parts),
        counts() {
          const now = store.http.counts();
          const since = { reads: now.reads - before.reads, pushes: now.pushes - before.pushes };
          before = now;
          return since;
        },
      };
    },
    creates: () => service.requests.filter(({ method }) => method === "POST").map(({ path }) => path),
  };
}
