import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EmbeddedService } from "../../../src/embedded/index.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { git } from "../../support/git-remote.ts";
import { configText, keyVariable } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";
import { type HttpStore, httpStore, ref } from "./git-store.ts";

const key = "git-records-key";

interface Machine {
  readonly folder: string;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  /** Pushes and listings of refs since the last call. */
  readonly counts: () => { readonly reads: number; readonly pushes: number };
}

interface Setting {
  readonly store: HttpStore;
  readonly service: EmbeddedService;
  /** A clone of its own with the project in it. */
  readonly machine: (manifests: string) => Machine;
  readonly creates: () => readonly string[];
}

async function setting(): Promise<Setting> {
  const store = await httpStore();
  const service = await startService({ apiKeys: { [key]: "bot@example.com" } });
  onTestFinished(() => service.close());
  return {
    ...{ store, service },
    machine(manifests) {
      const folder = store.remote.clone(store.http.url);
      const target = { baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, records: { git: { ref, id: store.id } } };
      mkdirSync(join(folder, "manifests"));
      writeFileSync(join(folder, "manifests", "all.yaml"), manifests);
      const parts = { targets: { prod: target }, client: { concurrency: 8 }, guards: { maxCreates: 200 } };
      writeFileSync(join(folder, "dimsync.yaml"), configText("", parts));
      let before = store.http.counts();
      return {
        folder,
        run: (...argv) =>
          runCommand(argv, folder, {
            PATH: process.env["PATH"] ?? "",
            HOME: "/nonexistent",
            [keyVariable]: key,
            DB_PASSWORD: "canary-password",
          }),
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

const integrations = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: i${index} }
spec:
  destination: { id: d-12 }
  create:
    destinationSchema: s${index}
    replicationFrequency: 1h
    onSchemaUpdate: allow_columns
    enabled: false
    sourceConfig:
      type: postgres
      name: source-${index}
      authMethod: password
      connectionType: source
      owners: []
      connection: { hostname: db.internal, port: 5432, database: d${index}, username: replicator, password: { $secret: { env: DB_PASSWORD } }, slot: s1, publication: p1 }
    sourceSettings: { max_clients: 4, incremental_mode: xmin }
`,
  ).join("---\n");

describe("the number of pushes", () => {
  it("is none for plan, drift and an apply without changes, which read the ref at most twice", async () => {
    const { machine, store } = await setting();
    const first = machine(integrations(2));
    const ran = await first.run("apply", "--yes");
    expect(ran.code, ran.stderr + ran.stdout).toBe(0);
    const tip = store.remote.tip(ref);
    const second = machine(integrations(2));
    for (const argv of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const { code, stdout, stderr } = await second.run(...argv);
      expect(code, `${argv.join(" ")}: ${stdout}${stderr}`).toBe(0);
      const { pushes, reads } = second.counts();
      expect(pushes, argv.join(" ")).toBe(0);
      expect(reads, argv.join(" ")).toBeLessThanOrEqual(2);
    }
    expect(store.remote.tip(ref)).toBe(tip);
  });

  for (const [creates, pushes] of [
    [1, 2],
    [16, 2],
    [100, 8],
  ] as const)
    it(`is ${pushes} for ${creates} creates`, { timeout: 120_000 }, async () => {
      const { machine, creates: sent, store } = await setting();
      const one = machine(integrations(creates));
      const { code, stdout, stderr } = await one.run("apply", "--yes");
      expect(code, stdout + stderr).toBe(0);
      expect(sent()).toHaveLength(creates);
      expect(one.counts().pushes).toBe(pushes);
      expect(git(store.remote.bare, "show", `${ref}:bindings.yaml`).match(/Integration\//g)).toHaveLength(creates);
    });
});
