import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { toPointer } from "../../src/model/json/pointer.ts";
import { dimsync, emptyFolder, ended, startCli } from "../cli/built-cli.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { configText, keyVariable, writeFolder } from "../support/project-folder.ts";
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

/** A command as a step of GitHub Actions. */
const step = (args: readonly string[], cwd = folder, env: Readonly<Record<string, string>> = {}) =>
  dimsync(args, { cwd, env: { [keyVariable]: service.apiKey, GITHUB_ACTIONS: "true", COLUMNS: "120", ...env } });

/** Commands that print names of the account, their exit codes, and the formats that each also writes to files. */
const commands: readonly (readonly [command: string, code: number, formats: readonly string[]])[] = [
  ["plan --list-unmanaged", 3, ["json", "markdown", "junit", "sarif", "ndjson", "html", "github"]],
  ["plan -v", 3, []],
  ["plan -o json", 3, []],
  ["plan -o junit", 3, []],
  ["plan -o ndjson", 3, []],
  ["drift --since 1d --no-notify", 3, ["json", "markdown", "junit", "sarif", "ndjson", "html"]],
  ["get Integration", 0, ["json", "ndjson", "yaml", "markdown"]],
  ["get Integration -o yaml", 0, []],
  ["get Integration -o json", 0, []],
  ["get Tag", 0, ["json", "ndjson", "yaml", "markdown"]],
  ["get User", 0, ["json", "ndjson", "yaml", "markdown"]],
  ["get SchemaConfig 8f1c", 0, ["json", "yaml"]],
  ["audit --since 1d", 0, ["json", "ndjson", "yaml", "markdown"]],
  ["audit --since 1d -o json", 0, []],
  ["register --no-history", 0, ["json", "csv", "html", "markdown"]],
  ["register --no-history -o csv", 0, []],
  ["explain SchemaConfig/all public.users", 0, ["json"]],
  ["explain SchemaConfig/nothing", 1, []],
  ["import --dry-run", 0, ["json"]],
  ["import --suggest", 0, ["json"]],
  ["render --expand", 0, ["json"]],
  ["list", 0, ["json"]],
  ["doctor", 0, ["json"]],
  ["get Tag nothing", 1, []],
  ["ci plan", 3, ["json", "junit"]],
];

describe("names of an account", () => {
  it.concurrent.each(commands)("are only text in the output of %s", async (command, code, formats) => {
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
  it.each(["human", "junit", "json", "ndjson", "markdown", "sarif", "github"])("have no line of their own in %s", async (format) => {
    const account = await startEmbeddedService({ state: hostileAccount(breakouts) });
    onTestFinished(account.close);
    const cwd = emptyFolder({ "dimsync.yaml": configText(account.url), "manifests/wrong.yaml": wrong });
    const { code, stdout, stderr } = await step(["plan", "-o", format], cwd, { [keyVariable]: account.apiKey });
    expect([code, stdout]).toEqual([1, expect.stringContaining("Policies were not evaluated on")]);
    expect([...faultsIn(stdout, { commands: format === "github" }), ...faultsIn(stderr)]).toEqual([]);
    if (format === "github") expect(stdout.match(/^::error .*/gmu)).toHaveLength(1);
  });

  it("are escaped in errors about responses", async () => {
    const server = createServer((_, response) => {
      response.writeHead(418, { "content-type": "application/json", "x-request-id": "1" });
      response.end(JSON.stringify({ code: "TEAPOT", message: `no${breakouts.join("")}\r\u001b[2J##[error]x` }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cwd = emptyFolder({ "dimsync.yaml": configText(url), "manifests/all.yaml": manifests });
    for (const command of [
      "get Tag",
      "plan",
      "plan -o junit",
      "apply --yes",
      "import --dry-run",
      "audit",
      "doctor",
      "snapshot --out x.gz",
    ]) {
      const { code, stdout, stderr } = await step(command.split(" "), cwd);
      expect([command, code]).toEqual([command, 1]);
      expect([...faultsIn(stdout), ...faultsIn(stderr)], command).toEqual([]);
    }
  });
});

describe("the register in CSV (attack 10)", () => {
  const cells = (text: string): readonly string[] => parse(text).flat();

  it("has no formulas", async () => {
    const { stdout } = await step(["register", "--no-history", "-o", "csv"]);
    expect(cells(stdout).filter((text) => /^[=+\-@\t\r]/u.test(text))).toEqual([]);
    expect(stdout).toContain("'=cmd|' /C calc'!A0");
  });

  it("has the names as they are for machines", async () => {
    const file = join(mkdtempSync(join(folder, "out-")), "raw.csv");
    await step(["register", "--no-history", "-o", `csv=${file}`, "--csv", "raw"]);
    const columns = parse(readFileSync(file, "utf8"), { columns: true }) as readonly { readonly table: string; readonly column: string }[];
    const found = new Set(columns.filter(({ table }) => table === "users").map(({ column }) => column));
    // UTF-8 has no lone surrogates.
    const names = Object.values(hostileNames).map((name) => name.replaceAll(/[\ud800-\udfff]/gu, "\ufffd"));
    expect(names.filter((name) => !found.has(name))).toEqual([]);
  });

  it("does not change what a saved register is compared with", async () => {
    const file = join(mkdtempSync(join(folder, "out-")), "saved.json");
    await step(["register", "--no-history", "-o", `json=${file}`]);
    const { code, stdout } = await step(["register", "--no-history", "--diff", file]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Nothing changed.")]);
  });
});

const exposing = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: Orders, rules: [{ id: pii, match: { schema: public, column: "*" }, set: { hashed: true } }] }
`;

describe.each([
  ["embedded", {}],
  ["PostgreSQL", needs("postgresql")],
] as const)("a controller with %s (attack 4)", (kind, missing) => {
  it("stores what it finds about columns with odd names, and shows them as they are", { timeout: 300_000, ...missing }, async () => {
    const target = { baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, controller: { every: "1m" } };
    const cwd = emptyFolder({ "dimsync.yaml": configText(service.url, { targets: { test: target } }), "manifests/all.yaml": exposing });
    const url = kind === "embedded" ? {} : { DIMSYNC_DATABASE_URL: (await sharedPostgres()).database() };
    const env = { [keyVariable]: service.apiKey, USER: "ann", GITHUB_ACTIONS: "true", ...url };
    const child = startCli(["controller", "run", "--watch", "--listen", "127.0.0.1:0"], { cwd, env });
    const end = ended(child);
    onTestFinished(() => void child.kill("SIGKILL"));
    const controller = (...args: readonly string[]) => dimsync(["controller", ...args], { cwd, env });
    const exposed = Object.keys(hostileNames).length;
    await vi.waitFor(
      async () =>
        expect(JSON.parse((await controller("status", "-o", "json")).stdout).accounts).toMatchObject([{ exposedColumns: exposed }]),
      { timeout: 150_000, interval: 2_000 },
    );
    const { events } = JSON.parse((await controller("history", "test", "-o", "json")).stdout);
    const pathOf = (name: string): string => toPointer(["schemas", "public", "tables", "users", "columns", name, "hashed"]);
    expect(new Set(events.map(({ path }: { readonly path: string }) => path))).toEqual(new Set(Object.values(hostileNames).map(pathOf)));
    for (const args of [["status"], ["history", "test"], ["check", "test", "--wait"], ["check", "test", "--wait", "-o", "json"]]) {
      const { stdout, stderr } = await controller(...args);
      expect([...faultsIn(stdout), ...faultsIn(stderr)], args.join(" ")).toEqual([]);
    }
    child.kill("SIGTERM");
    const { stdout, stderr } = await end;
    expect([...faultsIn(stdout), ...faultsIn(stderr)]).toEqual([]);
  });
});
