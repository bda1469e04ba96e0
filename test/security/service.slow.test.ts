// Names of an account are only text in every output.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../src/cli/cli.ts";
import { guarded } from "../../src/core/base/text/workflow-commands.ts";
import { initPostgresRecords } from "../../src/core/records/postgres/index.ts";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { servePage } from "../../src/features/controller/server.ts";
import { dimsync, emptyFolder } from "../cli/built-cli.ts";
import { startWorker } from "../features/controller/world.ts";
import { capturedIo } from "../support/captured-io.ts";
import type { Ran } from "../support/command.ts";
import { gitEnv } from "../support/git/env.ts";
import { gitRemote } from "../support/git/remote.ts";
import { serve } from "../support/loopback.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { configText, filesIn, keyVariable, writeFolder } from "../support/project-folder.ts";
import { breakouts, faultsIn, hostileAccount, hostileNames } from "./hostile.ts";

const manifests = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: all }
spec:
  integrations: { names: ["*"] }
  rules: [{ id: pii, match: { schema: "*", table: "*", column: "*" }, set: { hashed: true } }]
---
apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { labels: [{ label: contact, match: { schema: "*", table: "*", column: "*" }, reason: register 12 }] }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gold }
spec: { name: Gold, description: Tables for finance }
`;

let service: EmbeddedService;
let folder: string;

beforeAll(async () => {
  service = await startEmbeddedService({ state: hostileAccount() });
  folder = writeFolder({ "dimsync.yaml": configText(service.url, { client: { concurrency: 8 } }), "manifests/all.yaml": manifests });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.close();
});

type Env = Readonly<Record<string, string>>;

/** A command as a step of GitHub Actions, whose output is guarded as that of the process is. */
async function step(args: readonly string[], cwd = folder, env: Env = {}): Promise<Ran> {
  const { io, printed } = capturedIo({ cwd, env: stepEnv(env) });
  return { code: await main(args, { ...io, stdout: guarded(io.stdout), stderr: guarded(io.stderr) }), ...printed() };
}

/** Of a push to the branch that apply watches: then `ci plan` needs no base. */
const push = { GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_REF: "refs/heads/main", DIMSYNC_APPLIED_BRANCH: "main" };
const stepEnv = (env: Env): Env => ({ PATH: process.env["PATH"] ?? "", [keyVariable]: service.apiKey, ...push, ...env });

/** Commands that print names of the account, their exit codes, and the formats that each also writes to files. */
const commands: readonly (readonly [command: string, code: number, formats: readonly string[]])[] = [
  ["plan -v", 3, ["json", "markdown", "html", "github"]],
  ["plan -o json", 3, []],
  ["drift --since 1d", 3, ["json", "markdown", "html"]],
  ["get Integration", 0, ["json"]],
  ["get Integration -o json", 0, []],
  ["get Tag", 0, ["json"]],
  ["get User", 0, ["json"]],
  ["get SchemaConfig 8f1c", 0, ["json"]],
  ["audit --since 1d", 0, ["json"]],
  ["audit --since 1d -o json", 0, []],
  ["register", 0, ["json", "csv"]],
  ["register -o csv", 0, []],
  ["explain SchemaConfig/all public.users", 0, ["json"]],
  ["explain SchemaConfig/nothing", 1, []],
  ["import --dry-run", 0, ["json"]],
  ["doctor", 0, ["json"]],
  ["get Tag nothing", 1, []],
  ["ci plan", 3, ["json"]],
];

describe("names of an account", () => {
  it.each(commands)("are only text in the output of %s", async (command, code, formats) => {
    const out = mkdtempSync(join(folder, "out-"));
    const fileOf = (format: string): string => join(out, `out.${format}`);
    const ran = await step([...command.split(" "), ...formats.flatMap((format) => ["-o", `${format}=${fileOf(format)}`])]);
    expect([ran.code, ran.code === code ? "" : ran.stderr]).toEqual([code, ""]);
    const commandsOfItsOwn = command.startsWith("ci ");
    expect([...faultsIn(ran.stdout, { commands: commandsOfItsOwn }), ...faultsIn(ran.stderr)].slice(0, 8)).toEqual([]);
    for (const format of formats) {
      // Only a log is read for workflow commands.
      const faults = faultsIn(readFileSync(fileOf(format), "utf8"), { commands: true });
      expect(faults.filter((fault) => format === "github" || !fault.includes("old workflow")).slice(0, 8), format).toEqual([]);
    }
  });
});

describe("names of an account", () => {
  it.each(["plan -v", "get Integration", "drift -v --since 1d"])("are only text in what a process prints for %s", async (command) => {
    const { stdout, stderr } = await dimsync(command.split(" "), { cwd: folder, env: stepEnv({}) });
    expect(stdout).toContain("forged");
    expect([...faultsIn(stdout), ...faultsIn(stderr)].slice(0, 8)).toEqual([]);
  });
});

/** Commands that change the account, the records or files, in this order, with their exit codes. */
const changing: readonly (readonly [command: string, code: number])[] = [
  ["records init --to git", 0],
  ["catalog accept --all", 0],
  ["apply --yes -v --allow maxChangedPercent=test --result result.json -o html=apply.html -o markdown=apply.md", 0],
  ["show result.json", 0],
  ["show result.json -o json", 0],
  ["show result.json -o markdown", 0],
  ["plan --out plan.json -o github", 0],
  ["show plan.json", 0],
  ["records show", 0],
  ["records show -o json", 0],
  ["records export", 0],
  ["catalog accept --all", 0],
  // No manifest may contain the NUL character of a name.
  ["import --out manifests/imported", 1],
  ["import --out manifests/imported -o json", 1],
];

describe("names of an account", () => {
  it("are only text in the output of commands that change something, and in the files that they write", async () => {
    const account = await startEmbeddedService({ state: hostileAccount() });
    onTestFinished(account.close);
    const config = configText(account.url, { client: { concurrency: 8 }, catalog: "dimsync.catalog.yaml" });
    const cwd = gitRemote().clone();
    mkdirSync(join(cwd, "manifests"));
    writeFileSync(join(cwd, "dimsync.yaml"), config);
    writeFileSync(join(cwd, "manifests/all.yaml"), manifests);
    const found: string[] = [];
    for (const [command, code] of changing) {
      const ran = await step(command.split(" "), cwd, { ...gitEnv, [keyVariable]: account.apiKey });
      expect([command, ran.code, ran.code === code ? "" : ran.stdout.slice(-3000) + ran.stderr]).toEqual([command, code, ""]);
      const isForRunner = command.endsWith("github");
      const faults = [...faultsIn(ran.stdout, { commands: isForRunner }), ...faultsIn(ran.stderr)];
      found.push(...faults.slice(0, 3).map((fault) => `${command}: ${fault}`));
    }
    const files = filesIn(cwd);
    expect([...files.keys()]).toEqual(expect.arrayContaining(["dimsync.catalog.yaml", "result.json", "plan.json", "apply.html"]));
    for (const [path, text] of files)
      if (!/^\.(?:dimsync|git)/u.test(path))
        found.push(
          ...faultsIn(text, { commands: true })
            .filter((fault) => !fault.includes("old workflow"))
            .slice(0, 3)
            .map((fault) => `${path}: ${fault}`),
        );
    expect(found).toEqual([]);
  });
});

/** Each of its messages names integrations of the account. */
const wrong = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: one }
spec: { integrations: { names: ["*"] }, missing: error, schemas: { publik: { enabled: true } } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: two }
spec: { integrations: { names: ["*"] }, rules: [{ id: all, match: { column: "*" }, set: { hashed: true } }] }
---
apiVersion: dimsync/v1
kind: Policy
metadata: { name: hashed }
spec: { severity: error, when: { column: { name: "*" } }, require: { hashed: true }, message: Columns must be hashed. }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: wrong }
spec: { name: "tag\\n::error::forged", owner: "nobody\\n::error::forged@example.com", resources: [{ integration: nothing }] }
`;

describe("messages about names of an account (attack 9)", () => {
  it.each(["human", "json", "markdown", "github"])("have no line of their own in %s", async (format) => {
    const account = await startEmbeddedService({ state: hostileAccount(breakouts) });
    onTestFinished(account.close);
    const cwd = emptyFolder({ "dimsync.yaml": configText(account.url), "manifests/wrong.yaml": wrong });
    const { code, stdout, stderr } = await step(["plan", "-o", format], cwd, { [keyVariable]: account.apiKey });
    expect([code, stdout]).toEqual([1, expect.stringContaining("Policies were not evaluated on")]);
    expect([...faultsIn(stdout, { commands: format === "github" }), ...faultsIn(stderr)]).toEqual([]);
    if (format === "github") expect(stdout.match(/^::error .*/gmu)).toHaveLength(1);
  });

  it("are escaped in errors about responses", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(418, { "content-type": "application/json", "x-request-id": "1" });
      response.end(JSON.stringify({ code: "TEAPOT", message: `no${breakouts.join("")}\r\u001b[2J##[error]x` }));
    });
    const cwd = emptyFolder({ "dimsync.yaml": configText(url), "manifests/all.yaml": manifests });
    for (const command of ["get Tag", "plan", "apply --yes", "import --dry-run", "audit", "doctor"]) {
      const { code, stdout, stderr } = await step(command.split(" "), cwd);
      expect([command, code]).toEqual([command, 1]);
      expect([...faultsIn(stdout), ...faultsIn(stderr)], command).toEqual([]);
    }
  });
});

describe("the register in CSV (attack 10)", () => {
  const cells = (text: string): readonly string[] => parse(text).flat();

  it("has no formulas", async () => {
    const { stdout } = await step(["register", "-o", "csv"]);
    expect(cells(stdout).filter((text) => /^[=+\-@\t\r]/u.test(text))).toEqual([]);
    expect(stdout).toContain("'=cmd|' /C calc'!A0");
  });
});

const exposing = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: Orders, rules: [{ id: pii, match: { schema: public, column: "*" }, set: { hashed: true } }] }
`;

/** The records of the target `test` in a database. */
async function recordsIn(url: string): Promise<object> {
  const { id } = await initPostgresRecords({ target: "test", url, schema: "dimsync" });
  return { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, id };
}

/** All strings of a JSON document. */
const stringsIn = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];

const databases = [
  ["embedded", {}],
  ["PostgreSQL", needs("postgresql")],
] as const;

describe.each(databases)("a controller with %s (attack 4)", (kind, missing) => {
  it("stores what it finds about columns with odd names, and shows them as they are", missing, async () => {
    const url = kind === "embedded" ? undefined : await (await sharedPostgres()).database();
    const target = {
      ...{ baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, controller: { every: "1m" } },
      ...(url === undefined ? {} : { records: { postgres: await recordsIn(url) } }),
    };
    const hook = await serve((_request, response) => response.writeHead(204).end());
    const notify = { url: { $secret: { env: "HOOK" } } };
    const folder = emptyFolder({
      "dimsync.yaml": configText(service.url, { targets: { test: target }, notify }),
      [`manifests/all${breakouts.join("")}\u001b[31m\u202e<b>.yaml`]: exposing,
    });
    const env = { [keyVariable]: service.apiKey, HOOK: hook.url, ...(url === undefined ? {} : { DIMSYNC_DATABASE_URL: url }) };
    const worker = await startWorker({ folder, url, env });
    expect(await worker.check()).toMatchObject({ exposed: Object.keys(hostileNames).length });
    const page = await servePage(worker.database, { listen: "127.0.0.1:0", token: "" });
    onTestFinished(() => page.close());
    for (const path of ["/", "/accounts/test", "/api/accounts", "/api/accounts/test", "/metrics"]) {
      const response = await fetch(new URL(path, page.url));
      const text = await response.text();
      // Only a log is read for workflow commands.
      const faults = faultsIn(text, { commands: true }).filter((fault) => !fault.includes("old workflow"));
      expect([path, response.status, ...faults.slice(0, 3)]).toEqual([path, 200]);
      if (!path.startsWith("/api")) expect(text).not.toMatch(/<script>alert|<\/details><\/summary>/u);
    }
    // The message has no line that a name has begun.
    expect(hook.received).toHaveLength(1);
    const [{ body = "" } = {}] = hook.received;
    expect(faultsIn(body, { commands: true }).filter((fault) => !fault.includes("old workflow"))).toEqual([]);
    expect(stringsIn(JSON.parse(body).text).filter((text) => /^\W*FORGED|^[\s]*::error/mu.test(text))).toEqual([]);
    expect(faultsIn(worker.log.join("\n"))).toEqual([]);
  });
});
