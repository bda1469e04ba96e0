import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountState, IntegrationRecord } from "../../../src/embedded/data/account.ts";
import type { EmbeddedService } from "../../../src/embedded/index.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { ordersManifest } from "../../support/orders.ts";
import { configText, keyVariable, writeProject } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";

afterEach(() => void vi.useRealTimers());

/** The text that the memo is given, to see that an output comes from it. */
const fromMemo = "from the memo\n";

type More = Readonly<Record<string, string>>;

/** An account that matches the manifests, and a folder for caches. */
async function start(config: Readonly<Record<string, unknown>> = {}) {
  const sent: string[] = [];
  const during = { run: (): void => {} };
  const service = await startService({
    onExchange({ method, path }) {
      sent.push(`${method} ${path}`);
      during.run();
    },
  });
  onTestFinished(() => service.close());
  const caches = mkdtempSync(join(tmpdir(), "dimsync-caches-"));
  onTestFinished(() => rmSync(caches, { recursive: true, force: true }));
  const cwd = writeProject({
    "dimsync.yaml": configText(service.url, config),
    "manifests/orders.yaml": ordersManifest("email: { enabled: true }"),
  });
  const env = { [keyVariable]: service.apiKey, XDG_CACHE_HOME: caches, DIMSYNC_ALLOW_CODE: "1" };
  // Records the id of the integration.
  expect(await runCommand(["apply", "--yes"], cwd, env)).toMatchObject({ code: 0 });
  const plan = async (args: readonly string[] = [], more: More = {}): Promise<Ran & { readonly requests: readonly string[] }> => {
    sent.length = 0;
    return { ...(await runCommand(["plan", ...args], cwd, { ...env, ...more })), requests: [...sent] };
  };
  const folder = join(caches, "dimsync/plans");
  /** The kept memos; replaces the output of each. */
  const mark = (): number => {
    let marked = 0;
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const file = join(folder, name);
      const memo = JSON.parse(readFileSync(file, "utf8")) as { readonly output: string };
      if (memo.output === "") continue;
      writeFileSync(file, JSON.stringify({ ...memo, output: fromMemo }));
      marked += 1;
    }
    return marked;
  };
  return { service, cwd, env, plan, mark, folder, during };
}

/** The same, with the memo of a plan. */
async function startWithMemo(config: Readonly<Record<string, unknown>> = {}) {
  const started = await start(config);
  await started.plan();
  const plan = await started.plan();
  expect(plan).toMatchObject({ code: 0, stderr: "" });
  expect(plan.stdout).toContain("No changes.");
  expect(started.mark()).toBe(1);
  return started;
}

/** Changes the integration that the manifest describes, or the account. */
function change({ mutate }: EmbeddedService, edit: (orders: IntegrationRecord, state: AccountState) => void): void {
  mutate((state) => {
    for (const orders of state.integrations.filter(({ name }) => name === "Orders")) edit(orders, state);
  });
}

test("from the third time on, a plan that reports nothing is printed without comparing, with the same requests", async () => {
  const { plan, mark } = await start();
  const first = await plan();
  expect(first.stdout).toContain("No changes.");
  expect(mark()).toBe(0);
  expect(await plan()).toEqual(first);
  expect(await plan()).toEqual(first);
  expect(mark()).toBe(1);
  const repeated = await plan();
  expect(repeated).toEqual({ ...first, stdout: fromMemo });
});

describe("is planned again", () => {
  type Started = Awaited<ReturnType<typeof start>>;
  const append =
    (file: string, text: string) =>
    ({ cwd }: Started): void =>
      writeFileSync(join(cwd, file), text, { flag: "a" });

  test.each<[what: string, edit: (started: Started) => void]>([
    ["one byte of a manifest", append("manifests/orders.yaml", "#")],
    ["one byte of the config", append("dimsync.yaml", "#")],
    ["a file that is new", append("manifests/more.yaml", "# nothing yet\n")],
    ["the bindings file", append("dimsync.bindings.yaml", "#")],
    ["what is recorded beside the bindings file", ({ cwd }) => rmSync(join(cwd, ".dimsync"), { recursive: true })],
    ["a manifest that is gone", ({ cwd }) => rmSync(join(cwd, "manifests/orders.yaml"))],
    [
      "a manifest of the same size and time",
      ({ cwd }) => {
        const file = join(cwd, "manifests/orders.yaml");
        const { atime, mtime } = statSync(file);
        writeFileSync(file, readFileSync(file, "utf8").replace("Orders", "Orderz"));
        utimesSync(file, atime, mtime);
      },
    ],
    [
      "a value in the account that no manifest sets",
      ({ service }) => change(service, (orders) => void Object.assign(orders, { paused: true })),
    ],
    [
      "an object in the account that no manifest has",
      ({ service }) => change(service, (orders, { integrations }) => void integrations.push({ ...orders, id: "zz01", name: "Another" })),
    ],
  ])("after a change of %s", async (_, edit) => {
    const started = await startWithMemo();
    expect((await started.plan()).stdout).toBe(fromMemo);
    edit(started);
    const { stdout } = await started.plan();
    expect(stdout).toContain("Plan for test");
  });

  test.each<[args: readonly string[], more: More]>([
    [[], { OTHER: "1" }],
    [[], { COLUMNS: "60" }],
    [[], { FORCE_COLOR: "1" }],
    [["--only", "Integration/*"], {}],
    [["--var", "a=b"], {}],
    [["--no-cache"], {}],
    [["--verbose"], {}],
    [["-o", "json"], {}],
    [["manifests"], {}],
    [[], { CI: "true" }],
  ])("with the arguments %j and the environment %j", async (args, more) => {
    const { plan } = await startWithMemo();
    expect((await plan(args, more)).stdout).not.toBe(fromMemo);
  });

  test("on another day, since exemptions end", async () => {
    const { plan } = await startWithMemo();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 24 * 3_600_000 });
    expect((await plan()).stdout).toContain("No changes.");
  });

  test("if a request had to be repeated, since the output says how many were sent", async () => {
    const { plan, service } = await startWithMemo({ client: { retries: 2 } });
    const usual = (await plan()).requests;
    service.addFault("GET /schemas@1=status:500");
    const { stdout, requests } = await plan();
    expect(requests).toHaveLength(usual.length + 1);
    expect(stdout).toContain("No changes.");
  });
});

test("nothing is kept if a file changed while the plan was made", async () => {
  const { plan, cwd, during, mark } = await start();
  await plan();
  during.run = () => writeFileSync(join(cwd, "manifests/orders.yaml"), "#", { flag: "a" });
  expect((await plan()).stdout).toContain("No changes.");
  expect(mark()).toBe(0);
});

test("a new commit, which the output names, is a difference", async () => {
  const { plan, cwd, mark } = await start();
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd, env: gitEnv, encoding: "utf8" });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  for (let i = 0; i < 2; i++) await plan();
  mark();
  expect((await plan()).stdout).toBe(fromMemo);
  git("commit", "--quiet", "--allow-empty", "-m", "Second");
  expect((await plan()).stdout).toContain(git("rev-parse", "--short", "HEAD").trim());
});

test("responses that arrived before the difference are not requested again", async () => {
  const { plan, service } = await startWithMemo();
  const { requests } = await plan();
  change(service, (orders) => {
    for (const { columns } of Object.values(orders.schemas["public"]?.tables ?? {}))
      for (const column of Object.values(columns)) column.hashed = !column.hashed;
  });
  const changed = await plan();
  expect(changed.stdout).not.toBe(fromMemo);
  expect(changed.requests).toEqual(requests);
  expect(changed.stdout).toContain(`Read with ${requests.length} GET.`);
});

/** A policy module can depend on anything. */
const policyModule = {
  "manifests/policy.yaml":
    "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: keys }\nspec: { severity: error, module: keys.mjs, message: m }\n",
  "keys.mjs": "export default () => [];\n",
};

describe("nothing is kept of a plan", () => {
  const keptAfter = async (files: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<number> => {
    const { plan, mark, cwd } = await start();
    for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
    for (let i = 0; i < 3; i++) await plan(args);
    return mark();
  };

  test("with a policy module, and no digests are computed again", async () => {
    const { plan, cwd, folder } = await start();
    for (const [file, text] of Object.entries(policyModule)) writeFileSync(join(cwd, file), text);
    for (let i = 0; i < 2; i++) await plan();
    const [name = ""] = readdirSync(folder);
    const { mtimeNs } = statSync(join(folder, name), { bigint: true });
    expect(JSON.parse(readFileSync(join(folder, name), "utf8"))).toMatchObject({ inputs: "", reads: [], isUnfit: true });
    await plan();
    expect(statSync(join(folder, name), { bigint: true }).mtimeNs).toBe(mtimeNs);
  });

  test.each<[what: string, files: Readonly<Record<string, string>>]>([
    ["with a change", { "manifests/orders.yaml": ordersManifest("email: { enabled: false }") }],
    ["with an error", { "manifests/wrong.yaml": "kind: Nothing\n" }],
  ])("%s", async (_, files) => {
    expect(await keptAfter(files)).toBe(0);
  });

  test.each([[["--no-cache"]], [["--verbose"]], [["-o", "markdown"]]])("with %j", async (args) => {
    expect(await keptAfter({}, args)).toBe(0);
  });
});

test("a broken memo, and one that others could have written, are not used", async () => {
  const { plan, folder } = await startWithMemo();
  chmodSync(folder, 0o777);
  expect((await plan()).stdout).toContain("No changes.");
  chmodSync(folder, 0o700);
  expect((await plan()).stdout).toBe(fromMemo);
  for (const name of readdirSync(folder)) truncateSync(join(folder, name), 100);
  expect((await plan()).stdout).toContain("No changes.");
});

test("what a shell changes with each command makes no difference", async () => {
  const { plan } = await startWithMemo();
  expect((await plan([], { SHLVL: "2", OLDPWD: "/", _: "/usr/bin/dimsync" })).stdout).toBe(fromMemo);
});

test("contains no secret", async () => {
  const { folder, env } = await startWithMemo();
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), "utf8")).not.toContain(env[keyVariable]);
  }
});
