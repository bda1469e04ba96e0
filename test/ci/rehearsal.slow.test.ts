import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { SchemaMap } from "../../src/embedded/data/account.ts";
import { seedAccount } from "../../src/embedded/data/seed.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { returnsManifest } from "../support/returns.ts";
import { type GithubStandIn, startGithub } from "./github-stand-in.ts";
import { type Job, packPackage, type Repository, runJobOf, startRepository, ways } from "./rehearsal-job.ts";

// A whole life of a change, with nothing replaced but GitHub: the packed package, the action's own scripts, git with a bare remote, the service.

let packageFile = "";
beforeAll(() => {
  const packed = packPackage();
  packageFile = packed.file;
  return packed.remove;
}, 60_000);

const runJob = (repository: Repository, github: GithubStandIn, key: string, job: Job) =>
  runJobOf(packageFile, repository, github, key, job);

const config = (baseUrl: string, parts = ""): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${baseUrl}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
    protected: true
client: { settleSeconds: 1, schemaWaitSeconds: 5 }
${parts}`;

const orders = (hashed: string): string => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { columns: { ${hashed} } } } } }
`;

const returns = returnsManifest({ destination: "{ id: d-12 }", secretEnv: "RETURNS_DB_PASSWORD", owners: "[dana@example.com]" });

describe("the rehearsal", () => {
  test.each(ways)("a pull request, its second push, the merge, the night after, with %s", { timeout: 120_000 }, async (way) => {
    const key = "rehearsal-key";
    const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
    const github = await startGithub();
    try {
      const repository = startRepository({
        "dimsync.yaml": config(service.url),
        ".gitignore": ".dimsync/\n",
        "manifests/orders.yaml": orders("email: { hashed: true }"),
      });
      const job = (one: Job) => runJob(repository, github, key, { way, ...one });
      const comments = () => github.comments.get(7) ?? [];

      repository.commit("feature", { "manifests/returns.yaml": returns });
      const first = await job({ task: "plan", branch: "feature" });
      expect(first.code, first.log).toBe(0);
      expect(first.outputs).toMatchObject({
        has_changes: "true",
        exit_code: "0",
        summary_line: expect.stringContaining("Plan for prod: 1 to create"),
      });
      expect(first.summary).toContain("## Plan for `prod`");
      expect(comments()).toHaveLength(1);
      expect(comments()[0]?.body).toContain("Integration/returns");
      expect(comments()[0]?.body).not.toContain("phone");

      repository.commit("feature", { "manifests/orders.yaml": orders("email: { hashed: true }, phone: { hashed: true }") });
      const second = await job({ task: "plan", branch: "feature" });
      expect(second.code, second.log).toBe(0);
      expect(comments()).toHaveLength(1);
      expect(comments()[0]?.body).toContain("phone");
      // Neither plan needed the connection's secret, and neither wrote.
      expect(Object.keys(service.counts())).toEqual(["GET"]);

      repository.merge("feature");
      const applied = await job({ task: "apply", branch: "main", secrets: { RETURNS_DB_PASSWORD: "rehearsal-secret" } });
      expect(applied.code, applied.log).toBe(0);
      expect(applied.outputs).toMatchObject({ exit_code: "0", has_changes: "true" });
      expect(service.counts()).toMatchObject({ POST: 1, PATCH: 1 });
      const created = service.state().integrations.find(({ name }) => name === "returns-pg" || name === "returns");
      expect(repository.read("main", "dimsync.bindings.yaml")).toContain(created?.id ?? "no integration was created");
      expect(applied.used.map(({ uses }) => uses).slice(-2)).toEqual(["actions/cache/restore@v4", "actions/cache/save@v4"]);

      service.resetCounts();
      const again = await job({ task: "apply", branch: "main", secrets: { RETURNS_DB_PASSWORD: "rehearsal-secret" } });
      expect(again.code, again.log).toBe(0);
      expect(Object.keys(service.counts())).toEqual(["GET"]);

      const quiet = await job({ task: "drift", branch: "main" });
      expect(quiet.outputs["exit_code"], quiet.log).toBe("0");
      expect(github.issues).toEqual([]);
      const setHashed = (value: boolean) =>
        service.mutate((state) => {
          const column = state.integrations[0]?.schemas["public"]?.tables["customers"]?.columns["email"];
          if (column === undefined) throw new Error("The seed has no such column.");
          column.hashed = value;
        });
      setHashed(false);
      const drifted = await job({ task: "drift", branch: "main" });
      expect(drifted.code, drifted.log).toBe(0);
      expect(drifted.outputs).toMatchObject({ exit_code: "2", has_changes: "true" });
      expect(github.issues).toMatchObject([
        { state: "open", title: expect.stringContaining("Drift for prod"), body: expect.stringContaining("email") },
      ]);
      setHashed(true);
      const mended = await job({ task: "drift", branch: "main" });
      expect(mended.code, mended.log).toBe(0);
      expect(github.issues).toMatchObject([{ state: "closed" }]);

      for (const { log, summary } of [first, second, applied, again, quiet, drifted, mended]) {
        expect(log + summary).not.toContain("rehearsal-secret");
        expect(log + summary).not.toContain(key);
      }
    } finally {
      await service.close();
    }
  });

  test("a fork gets its manifests validated, and nothing is written for it", { timeout: 60_000 }, async () => {
    const service = await startEmbeddedService();
    const github = await startGithub();
    try {
      const repository = startRepository({
        "dimsync.yaml": config(service.url),
        "manifests/orders.yaml": orders("email: { hashed: true }"),
      });
      repository.commit("fork", { "manifests/orders.yaml": orders("email: { hased: true }") });
      const run = await runJob(repository, github, "", { task: "plan", branch: "fork", fromFork: true });
      expect(run.code, run.log).toBe(1);
      expect(run.outputs).toMatchObject({ exit_code: "1", has_changes: "false" });
      expect(run.log).toMatch(/^::error title=E_\w+%3A .*file=manifests\/orders\.yaml,line=11,col=67::/mu);
      expect(run.summary).toContain("## Validation");
      expect([github.calls, service.requests]).toEqual([[], []]);
    } finally {
      await service.close();
    }
  });

  test("ids that may not be pushed are handed over, with exit 4 and what to do", {
    timeout: 60_000,
  }, async () => {
    const key = "k";
    const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
    const github = await startGithub();
    try {
      const repository = startRepository({
        "dimsync.yaml": config(service.url),
        "manifests/orders.yaml": orders("email: { hashed: true }"),
        ".gitignore": ".dimsync/\n",
      });
      writeFileSync(join(repository.remote, "hooks/pre-receive"), "#!/bin/sh\necho protected branch >&2\nexit 1\n", { mode: 0o755 });
      const run = await runJob(repository, github, key, { task: "apply", branch: "main" });
      expect(run.code, run.log).toBe(4);
      expect(run.log).toContain("protected branch");
      const file = run.outputs["bindings_file"] ?? "";
      expect(readFileSync(file, "utf8")).toContain("8f1c");
      expect(run.used.at(-1)).toEqual({ uses: "actions/upload-artifact@v4", with: { name: "dimsync-bindings", path: file } });
      expect(run.summary).toContain("dimsync.bindings.yaml");
    } finally {
      await service.close();
    }
  });

  test("a plan of 10 000 changes stays within every limit", { timeout: 60_000 }, async () => {
    const key = "k";
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const column = (name: string) => ({ nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false });
    const schemas = {
      public: {
        nameInDestination: "public",
        enabled: true,
        tables: Object.fromEntries(
          names.map((table) => [
            table,
            {
              nameInDestination: table,
              enabled: true,
              syncMode: "full",
              columns: Object.fromEntries(names.map((name) => [name, column(name)])),
            },
          ]),
        ),
      },
    } as unknown as SchemaMap;
    const state = seedAccount();
    if (state.integrations[0] !== undefined) state.integrations[0].schemas = schemas;
    const service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" }, state: () => state });
    const github = await startGithub();
    try {
      const rules = 'spec:\n  integration: orders\n  rules: [{ id: all, match: { column: "*" }, set: { hashed: true } }]\n';
      const repository = startRepository({
        "dimsync.yaml": config(service.url, "guards: { maxChangedPercent: 100 }\n"),
        "manifests/orders.yaml": orders("").replace(/spec:\n {2}integration: orders\n.*\n$/u, rules),
      });
      const run = await runJob(repository, github, key, {
        task: "plan",
        branch: "main",
        inputs: { args: "--output=sarif=dimsync.sarif\n--output=junit=dimsync.xml" },
      });
      expect(run.code, run.log.slice(0, 3000)).toBe(0);
      expect(run.outputs["summary_line"]).toContain("10000 protect");
      const [comment] = github.comments.get(7) ?? [];
      expect(comment?.body.length).toBeLessThanOrEqual(65_536);
      expect(comment?.body).toContain("10000");
      expect(Buffer.byteLength(run.summary)).toBeLessThanOrEqual(1_000_000);
      expect(run.summary).toContain("10000");
      for (const severity of ["error", "warning", "notice"])
        expect(run.log.match(new RegExp(`^::${severity} `, "gmu"))?.length ?? 0).toBeLessThanOrEqual(10);
    } finally {
      await service.close();
    }
  });
});
