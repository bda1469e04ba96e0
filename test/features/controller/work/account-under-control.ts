import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { loadProject } from "../../../../src/core/manifests/project.ts";
import type { ControllerMode } from "../../../../src/core/model/settings/config.ts";
import type { TransactionalDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { deliver } from "../../../../src/features/controller/alerts/deliver.ts";
import { routeEvents } from "../../../../src/features/controller/alerts/outbox.ts";
import { migrate } from "../../../../src/features/controller/database/migrate.ts";
import { bundleProjects } from "../../../../src/features/controller/projects/load-bundle.ts";
import { makeBundle } from "../../../../src/features/controller/projects/make-bundle.ts";
import { pushBundle } from "../../../../src/features/controller/projects/push-bundle.ts";
import { readAccount } from "../../../../src/features/controller/views/accounts.ts";
import type { AccountDetail } from "../../../../src/features/controller/views/status.ts";
import { type DeliveryJob, openQueue } from "../../../../src/features/controller/work/queue.ts";
import { makeWorker } from "../../../../src/features/controller/work/worker.ts";
import { ordersManifest } from "../../../support/orders.ts";
import { newDatabase } from "../../../support/postgres/controller-database.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";
import { startService, type TestService } from "../../../support/service.ts";

/** customers.email should be hashed, and is not. */
const manifests = ordersManifest("email: { hashed: true }");

export const apiKey = "canary-key-77c0";

interface CheckOptions {
  /** Default: the first target. */
  readonly target?: string;
  readonly maxMode?: ControllerMode;
  readonly env?: Readonly<Record<string, string>>;
}

/** An account under control whose column customers.email is exposed, and workers in this process. */
export interface AccountUnderControl {
  readonly service: TestService;
  readonly database: TransactionalDatabase;
  /** Everything that workers logged. */
  readonly log: readonly string[];
  /** Adds files to the project, or replaces them, and pushes it. */
  readonly push: (files?: Readonly<Record<string, string>>) => Promise<void>;
  /** Checks the account now, whether it is due or not, and resolves with what is known of it then. */
  readonly check: (options?: CheckOptions) => Promise<AccountDetail | undefined>;
  /** Routes the events that are stored, and sends each message once to each receiver. Resolves with what failed. */
  readonly deliver: (env?: Readonly<Record<string, string>>) => Promise<readonly string[]>;
  /** Sends again what failed. */
  readonly retry: AccountUnderControl["deliver"];
  /** A user hashes the column of e-mail addresses, or turns that off. */
  readonly hash: (hashed: boolean) => Promise<void>;
}

interface UnderControl {
  /** Of the service. */
  readonly faults?: readonly string[];
  /** Of the config. */
  readonly notify?: Readonly<Record<string, unknown>>;
  /** All with the same account of the service. */
  readonly targets?: readonly string[];
  /** Whether the service has the requests beyond the interface document, and the targets say so. */
  readonly extended?: boolean;
}

/** `controller`: the value of `controller` in each target. */
export async function accountUnderControl(
  controller: Readonly<Record<string, unknown>>,
  { faults = [], notify, targets = ["test"], extended = false }: UnderControl = {},
): Promise<AccountUnderControl> {
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" }, faults, observed: extended });
  onTestFinished(() => service.close());
  const database = await newDatabase();
  onTestFinished(() => database.close());
  await migrate(database);
  const queue = await openQueue(database, () => undefined);
  onTestFinished(() => queue.stop(0));
  const settings = { baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, controller, service: { extended } };
  const all = Object.fromEntries(targets.map((target) => [target, settings]));
  const cwd = writeProject({
    "dimsync.yaml": configText(service.url, { targets: all, ...(notify === undefined ? {} : { notify }) }),
    "manifests/all.yaml": manifests,
  });
  const stateFolder = mkdtempSync(join(tmpdir(), "dimsync-worker-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true }));
  const log: string[] = [];
  const { signal } = new AbortController();
  let accounts: Awaited<ReturnType<typeof pushBundle>>["accounts"] = [];
  // pg-boss would retry what failed, later each time.
  const jobs = new Map<string, DeliveryJob>();
  const sendAll = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const options = { env, signal, publicUrl: "https://status.example.com", log: (text: string) => void log.push(text) };
    const failed: string[] = [];
    for (const job of jobs.values())
      await deliver(database, job, options).then(
        () => jobs.delete(job.id),
        (error: unknown) => failed.push(String(error)),
      );
    return failed;
  };
  return {
    ...{ service, database, log },
    async push(files = {}) {
      for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
      const projects = await Promise.all(targets.map((target) => loadProject({ cwd, env: {}, target })));
      const content = await makeBundle(projects, { source: "data", git: undefined, vars: {}, varFiles: [], env: {}, isLocal: true });
      accounts = (await pushBundle(database, content, { projects, by: "ci", force: "no git" })).accounts;
    },
    async check({ target = targets[0] ?? "", maxMode = "apply", env = {} } = {}) {
      const account = accounts.find((each) => each.target === target)?.id ?? 0;
      const load = bundleProjects({ database, stateFolder, env, isLocal: true });
      const worker = makeWorker({
        ...{ id: "worker", database, queue, maxMode, databaseUrl: undefined, signal, log: (text) => void log.push(text) },
        env: { [keyVariable]: apiKey, ...env },
        load: ({ id, digest }, stop) => load({ account: id, digest: digest ?? "", target, signal: stop }),
      });
      await database.query("update dimsync_controller.account set next_check_at = now()", []);
      // The queue repeats a failed check; here, the test does.
      await worker.check({ account, retries: 0 }).catch(() => undefined);
      return await readAccount(database, target);
    },
    async deliver(env = {}) {
      await routeEvents(database, async (job) => void jobs.set(job.id, job));
      return await sendAll(env);
    },
    retry: (env = {}) => sendAll(env),
    async hash(hashed) {
      const columns = { email: { hashed } };
      await fetch(`${service.url}/v1/integrations/8f1c/schemas`, {
        method: "PATCH",
        headers: { "x-api-key": apiKey, "content-type": "application/json", "user-agent": "Mozilla/5.0" },
        body: JSON.stringify({ schemas: { public: { tables: { customers: { columns } } } } }),
      });
    },
  };
}
