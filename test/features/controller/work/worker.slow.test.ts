import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadProject } from "../../../../src/core/manifests/project.ts";
import type { TransactionalDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { bundleProjects } from "../../../../src/features/controller/projects/load-bundle.ts";
import { makeBundle } from "../../../../src/features/controller/projects/make-bundle.ts";
import { pushBundle } from "../../../../src/features/controller/projects/push-bundle.ts";
import { openQueue } from "../../../../src/features/controller/work/queue.ts";
import { makeWorker } from "../../../../src/features/controller/work/worker.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { startService } from "../../../support/service.ts";

/** The database, and the statements that were sent to it. */
function counted(database: TransactionalDatabase): { readonly database: TransactionalDatabase; readonly statements: string[] } {
  const statements: string[] = [];
  return {
    statements,
    database: {
      ...database,
      query(text, values) {
        statements.push(text);
        return database.query(text, values);
      },
      script(text) {
        statements.push(text);
        return database.script(text);
      },
      transaction(work) {
        statements.push("transaction");
        return database.transaction(work);
      },
    },
  };
}

/** A worker and a pushed account whose key is the secret `apiKey`; nothing takes jobs from the queue. */
async function controlled(given: TransactionalDatabase, apiKey: string, env: Record<string, string | undefined>) {
  const service = await startService({ apiKeys: { right: "bot@example.com" } });
  const source = `data-${Math.random()}`;
  const cwd = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets: { prod: { baseUrl: "${service.url}", apiKey: ${apiKey}, controller: { every: 5m } } }
`,
    "manifests/tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n",
  });
  const projects = [await loadProject({ cwd, env, target: "prod" })];
  const content = await makeBundle(projects, { source, git: undefined, vars: {}, varFiles: [], env, isLocal: true });
  const { accounts } = await pushBundle(given, content, { projects, by: "ann" });
  const { database, statements } = counted(given);
  const queue = await openQueue(database, () => {});
  onTestFinished(async () => {
    await queue.stop(0);
    await service.close();
  });
  const stateFolder = writeProject({});
  const load = bundleProjects({ database, stateFolder, env: {}, isLocal: true });
  const worker = makeWorker({
    ...{ id: "w", database, queue, maxMode: "report", env, databaseUrl: undefined },
    ...{ signal: new AbortController().signal, log: () => {} },
    load: ({ id, digest, target }, signal) => load({ account: id, digest: String(digest), target, signal }),
  });
  const id = accounts[0]?.id ?? 0;
  return {
    statements,
    /** Checks the account now: the code of its error, or null. */
    async check() {
      await given.query("update dimsync_controller.account set next_check_at = now() where id = $1", [id]);
      statements.length = 0;
      await worker.check({ account: id, retries: 0 }).catch(() => undefined);
      const { rows } = await given.query("select error_code from dimsync_controller.account where id = $1", [id]);
      return rows[0]?.error_code;
    },
  };
}

describeDatabases("a worker", (database) => {
  it("uses a changed secret of a file at the next check", async () => {
    const file = join(writeProject({}), "key");
    const { check } = await controlled(database(), `{ $secret: { file: ${file} } }`, {});
    const seen = [];
    for (const key of ["right", "wrong", "right"]) {
      writeFileSync(file, key);
      seen.push(await check());
    }
    expect(seen).toEqual([null, "E_READ_FAILED", null]);
  });

  it("uses a changed secret of the environment at the next check", async () => {
    const env: Record<string, string | undefined> = {};
    const { check } = await controlled(database(), "{ $secret: { env: KEY } }", env);
    const seen = [];
    for (const key of ["right", undefined, "right"]) {
      env["KEY"] = key;
      seen.push(await check());
    }
    expect(seen).toEqual([null, "E_SECRET_MISSING", null]);
  });

  it("claims an account, records its run in one transaction, and requests the next one", async () => {
    const { check, statements } = await controlled(database(), "{ $secret: { env: KEY } }", { KEY: "right" });
    await check();
    expect(statements.some((text) => text.includes("dimsync_controller.bundle"))).toBe(true);
    await database().query("delete from dimsync_queue.job_common", []);
    await check();
    expect(statements.map((text) => /running_since = now|transaction|insert into \S+job/iu.exec(text)?.[0].toLowerCase())).toEqual([
      "running_since = now",
      "transaction",
      "insert into dimsync_queue.job",
    ]);
  });
});
