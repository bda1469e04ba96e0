// A lease is waited for, or taken over from a run that has ended, in every store.
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { initGitRecords, openGitRecords } from "../../../src/core/records/git/index.ts";
import { initPostgresRecords, openPostgresRecords } from "../../../src/core/records/postgres/index.ts";
import type { Records } from "../../../src/core/records/records.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitRemote } from "../../support/git/remote.ts";
import { postgresOfSuite } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";
import { compileProgram, type Program, start, tempFolder } from "./child.ts";
import { intentOf } from "./suite.ts";

const postgres = postgresOfSuite();

const ttlMs = 300_000;
const common = { target: "prod", ttlMs };

interface Shared {
  /** Opens the records as another machine would. */
  readonly open: () => Promise<Records>;
  /** Starts a process that begins a create as run-1 and then waits. */
  readonly hold: () => Promise<Program>;
}

const stores: Readonly<Record<string, () => Promise<Shared>>> = {
  async git() {
    const remote = gitRemote();
    const options = { ...common, remote: "origin", ref: "refs/dimsync/prod", key: undefined, env: gitEnv };
    const id = await initGitRecords({ ...options, folder: remote.clone() });
    const optionsHere = () => ({ ...options, id, folder: remote.clone() });
    return { open: async () => openGitRecords(optionsHere()), hold: () => holder("git", "openGitRecords", optionsHere()) };
  },
  async postgres() {
    const options = { ...common, url: await postgres.database(), schema: "dimsync" };
    const { id } = await initPostgresRecords(options);
    const optionsHere = async () => ({ ...options, id, folder: await tempFolder() });
    return {
      open: async () => openPostgresRecords(await optionsHere()),
      hold: async () => holder("postgres", "openPostgresRecords", await optionsHere()),
    };
  },
};

async function holder(store: string, name: string, options: object): Promise<Program> {
  const source = `import { ${name} } from "./${store}/index.ts";
const run = await ${name}(${JSON.stringify(options)}).begin({ runId: "run-1", waitMs: 0, runUrl: "https://example.com/jobs/1" });
await run.intend([${JSON.stringify(intentOf("Asset/a"))}]);
process.stdout.write("held");
setInterval(() => undefined, 1000);`;
  const program = start(await compileProgram(await tempFolder(), source), []);
  await Promise.race([program.process.stdout === null ? program.ended : once(program.process.stdout, "data"), program.ended]);
  return program;
}

for (const [name, newStore] of Object.entries(stores))
  describe(name, name === "postgres" ? needs("postgresql") : {}, () => {
    const begin = async ({ open }: Shared, hasEnded: () => Promise<boolean>) => {
      const records = await open();
      onTestFinished(() => records.close());
      const run = await records.begin({ runId: "run-2", waitMs: 0, hasEnded });
      onTestFinished(() => run.release().catch(() => undefined));
      return { records, run };
    };

    test("a run takes over at once from a killed process of this machine", async () => {
      const store = await newStore();
      const killed = await store.hold();
      await expect(begin(store, async () => false)).rejects.toMatchObject({
        code: "E_LOCKED",
        message: expect.stringContaining(`process ${killed.process.pid} on`),
      });
      killed.process.kill("SIGKILL");
      await killed.ended;
      const { records, run } = await begin(store, () => Promise.reject(new Error("Nobody needs to be asked.")));
      expect(run.notice).toContain("has no process any more");
      // What it sent may still be on its way, so its creates are not settled as not created yet.
      expect(run.state().unlocked).toMatchObject([{ runId: "run-1", graceMs: 0 }]);
      await run.take();
      const { unlocked, open } = await records.read();
      expect(unlocked).toMatchObject([{ runId: "run-1", graceMs: 0 }]);
      expect(open).toMatchObject([{ address: "Asset/a", runId: "run-1" }]);
      expect(await records.lease()).toMatchObject({ runId: "run-2", epoch: 2 });
    });
  });
