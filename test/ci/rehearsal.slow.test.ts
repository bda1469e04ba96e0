import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountState, SchemaMap } from "../../src/embedded/data/account.ts";
import { seedAccount } from "../../src/embedded/data/seed.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { returnsManifest } from "../support/returns.ts";
import { startGithub } from "./github-stand-in.ts";
import { type Job, packPackage, type Rehearsal, runJob, runReviewedApply, startRepository, ways } from "./rehearsal-job.ts";

// A change from the pull request to the report of drift. Only GitHub is replaced: the package is packed
// and installed, the scripts are those of the action and the workflows, git has a bare remote, and the
// service runs.

let packageFile = "";
beforeAll(() => {
  const packed = packPackage();
  packageFile = packed.file;
  return packed.remove;
}, 60_000);

const keys = { read: "rehearsal-read-key", write: "rehearsal-write-key" };
const users = { [keys.read]: "reader@example.com", [keys.write]: "bot@example.com" };

/** A service, GitHub, and a repository with these files, until the test ends. */
async function rehearse(
  files: Readonly<Record<string, string>>,
  { parts = "", state }: { parts?: string; state?: () => AccountState } = {},
) {
  const service = await startEmbeddedService({ apiKeys: users, ...(state === undefined ? {} : { state }) });
  onTestFinished(() => service.close());
  const github = await startGithub();
  const repository = startRepository({ "dimsync.yaml": config(service.url, parts), ".gitignore": ".dimsync/\n", ...files });
  const rehearsal: Rehearsal = { packageFile, repository, github, keys };
  const setHashed = (hashed: boolean): void =>
    service.mutate((account) => {
      const column = account.integrations[0]?.schemas["public"]?.tables["customers"]?.columns["email"];
      if (column === undefined) throw new Error("The seed has no such column.");
      column.hashed = hashed;
    });
  return { service, github, repository, rehearsal, setHashed, job: (one: Job) => runJob(rehearsal, one) };
}

type Rehearsed = Awaited<ReturnType<typeof rehearse>>;

const config = (baseUrl: string, parts: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${baseUrl}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
    protected: true
client: { settleSeconds: 1, schemaWaitSeconds: 5 }
${parts}`;

const orders = (columns: string): string => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { columns: { ${columns} } } } } }
`;
const ordersHashed = { "manifests/orders.yaml": orders("email: { hashed: true }") };
const returns = returnsManifest({ destination: "{ id: d-12 }", secretEnv: "RETURNS_DB_PASSWORD", owners: "[dana@example.com]" });
const secrets = { RETURNS_DB_PASSWORD: "rehearsal%secret" };

describe("the three jobs", () => {
  test.each(ways)("a pull request, its second push, the merge and two nights, with %s", { timeout: 120_000 }, async (way) => {
    const { service, github, repository, setHashed, job } = await rehearse(ordersHashed);
    const comments = () => github.comments.get(7) ?? [];

    repository.commit("feature", { "manifests/returns.yaml": returns });
    const first = await job({ way, task: "plan", branch: "feature" });
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
    const second = await job({ way, task: "plan", branch: "feature" });
    expect(second.code, second.log).toBe(0);
    expect(comments()).toHaveLength(1);
    expect(comments()[0]?.body).toContain("phone");
    // Neither plan needed the secret of the connection, and neither wrote.
    expect(Object.keys(service.counts())).toEqual(["GET"]);

    repository.merge("feature");
    const applied = await job({ way, task: "apply", branch: "main", secrets });
    expect(applied.code, applied.log).toBe(0);
    expect(applied.outputs).toMatchObject({ exit_code: "0", has_changes: "true" });
    expect(service.counts()).toMatchObject({ POST: 1, PATCH: 1 });
    const created = service.state().integrations.find(({ name }) => name === "returns-pg" || name === "returns");
    expect(repository.read("main", "dimsync.bindings.yaml")).toContain(created?.id ?? "no integration was created");
    expect(applied.used.map(({ uses }) => uses.split("@")[0]).slice(-2)).toEqual(["actions/cache/restore", "actions/cache/save"]);
    if (way === "the reusable workflows") expect(applied.masks).toEqual([secrets.RETURNS_DB_PASSWORD]);

    service.resetCounts();
    const again = await job({ way, task: "apply", branch: "main", secrets });
    expect(again.code, again.log).toBe(0);
    expect(Object.keys(service.counts())).toEqual(["GET"]);

    const quiet = await job({ way, task: "drift", branch: "main" });
    expect(quiet.outputs["exit_code"], quiet.log).toBe("0");
    expect(github.issues).toEqual([]);
    setHashed(false);
    const drifted = await job({ way, task: "drift", branch: "main" });
    expect(drifted.code, drifted.log).toBe(0);
    expect(drifted.outputs).toMatchObject({ exit_code: "2", has_changes: "true" });
    expect(github.issues).toMatchObject([
      { state: "open", title: expect.stringContaining("Drift for prod"), body: expect.stringContaining("email") },
    ]);
    setHashed(true);
    const resolved = await job({ way, task: "drift", branch: "main" });
    expect(resolved.code, resolved.log).toBe(0);
    expect(github.issues).toMatchObject([{ state: "closed" }]);

    for (const { log, summary } of [first, second, applied, again, quiet, drifted, resolved])
      for (const secret of [...Object.values(secrets), ...Object.values(keys)]) expect(log + summary).not.toContain(secret);
  });

  test.each(ways)("a pull request of Dependabot is validated and succeeds, with %s", { timeout: 60_000 }, async (way) => {
    const { service, github, repository, job } = await rehearse(ordersHashed);
    repository.commit("dependabot", { "manifests/returns.yaml": returns });
    const run = await job({ way, task: "plan", branch: "dependabot", author: "Dependabot" });
    expect(run.code, run.log).toBe(0);
    expect(run.summary).toContain("## Validation");
    expect([github.calls, service.requests]).toEqual([[], []]);
  });

  test("a pull request of a fork is validated, and nothing is written for it", { timeout: 60_000 }, async () => {
    const { service, github, repository, job } = await rehearse(ordersHashed);
    repository.commit("fork", { "manifests/orders.yaml": orders("email: { hased: true }") });
    const run = await job({ task: "plan", branch: "fork", author: "fork" });
    expect(run.code, run.log).toBe(1);
    expect(run.outputs).toMatchObject({ exit_code: "1", has_changes: "false" });
    expect(run.log).toMatch(/^::error title=E_\w+%3A .*file=manifests\/orders\.yaml,line=11,col=67::/mu);
    expect(run.summary).toContain("## Validation");
    expect([github.calls, service.requests]).toEqual([[], []]);
  });

  test("the plan job of init succeeds without a plan if the pull request changes no file of the project", { timeout: 60_000 }, async () => {
    const { service, repository, job } = await rehearse(ordersHashed);
    repository.commit("docs", { "README.md": "text" });
    const run = await job({ way: "the workflows of init", task: "plan", branch: "docs" });
    expect([run.code, run.used.length, service.requests]).toEqual([0, 1, []]);
  });

  test("ids that cannot be pushed become an artifact, with exit 4 and instructions", { timeout: 60_000 }, async () => {
    const { repository, job } = await rehearse(ordersHashed);
    writeFileSync(join(repository.remote, "hooks/pre-receive"), "#!/bin/sh\necho protected branch >&2\nexit 1\n", { mode: 0o755 });
    const run = await job({ task: "apply", branch: "main" });
    expect(run.code, run.log).toBe(4);
    expect(run.log).toContain("protected branch");
    const file = run.outputs["bindings_file"] ?? "";
    expect(readFileSync(file, "utf8")).toContain("8f1c");
    expect(run.used.at(-1)).toMatchObject({
      uses: expect.stringMatching(/^actions\/upload-artifact@/u),
      with: { name: "dimsync-bindings-prod", path: file },
    });
    expect(run.summary).toContain("dimsync.bindings.yaml");
  });

  test("a plan of 10 000 changes stays within every limit", { timeout: 60_000 }, async () => {
    const state = seedAccount();
    if (state.integrations[0] !== undefined) state.integrations[0].schemas = manyColumns();
    const rules = 'spec:\n  integration: orders\n  rules: [{ id: all, match: { column: "*" }, set: { hashed: true } }]\n';
    const { github, job } = await rehearse(
      { "manifests/orders.yaml": orders("").replace(/spec:\n {2}integration: orders\n.*\n$/u, rules) },
      { parts: "guards: { maxChangedPercent: 100 }\n", state: () => state },
    );
    const run = await job({
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
  });
});

/** 100 tables of 100 columns that are replicated unhashed. */
function manyColumns(): SchemaMap {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  const column = (name: string) => ({ nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false });
  const columns = () => Object.fromEntries(names.map((name) => [name, column(name)]));
  const table = (name: string) => ({ nameInDestination: name, enabled: true, syncMode: "full", columns: columns() });
  const tables = Object.fromEntries(names.map((name) => [name, table(name)]));
  return { public: { nameInDestination: "public", enabled: true, tables } } as unknown as SchemaMap;
}

describe("apply after an approval", () => {
  const sent = (counts: Readonly<Record<string, number>>) => Object.keys(counts).filter((method) => method !== "GET");

  test("applies the plan that was reviewed, with the key that can write", { timeout: 60_000 }, async () => {
    const { service, repository, rehearsal } = await rehearse({ ...ordersHashed, "manifests/returns.yaml": returns });
    let sentBefore: readonly string[] | undefined;
    const run = await runReviewedApply(rehearsal, {
      secrets,
      approve: () => {
        sentBefore = sent(service.counts());
        return true;
      },
    });
    expect(run.code, run.log).toBe(0);
    expect(sentBefore).toEqual([]);
    expect(run.outputs).toMatchObject({ exit_code: "0", has_changes: "true" });
    expect(run.summary).toMatch(/## Plan for `prod`[\s\S]*## Apply on `prod`/u);
    expect(repository.read("main", "dimsync.bindings.yaml")).toContain("returns");
    const [upload, download] = run.used.filter(({ uses }) => /-artifact@/u.test(uses));
    expect([upload?.with["name"], download?.with["artifact-ids"]]).toEqual(["dimsync-plan-prod", "100"]);

    service.resetCounts();
    const again = await runReviewedApply(rehearsal, { secrets, approve: () => expect.unreachable("There is nothing to approve.") });
    expect([again.code, sent(service.counts())]).toEqual([0, []]);
  });

  test("sends nothing without the approval", { timeout: 60_000 }, async () => {
    const { service, rehearsal } = await rehearse(ordersHashed);
    const run = await runReviewedApply(rehearsal, { approve: () => false });
    expect([run.code, sent(service.counts())]).toEqual([0, []]);
  });

  const rows: Readonly<
    Record<string, readonly [change: (rehearsed: Rehearsed, artifacts: readonly string[]) => void, code: number, log: string]>
  > = {
    "the account has changed": [({ setHashed }) => setHashed(true), 5, "stale"],
    "the manifests of the branch have changed": [({ repository }) => repository.commit("main", ordersHashed), 5, "E_PLAN_STALE"],
    "the branch has another newer commit": [({ repository }) => repository.commit("main", { "README.md": "text" }), 3, "E_PROTECTED"],
    "the artifact was changed": [
      (_, [file = ""]) => writeFileSync(file, readFileSync(file, "utf8").replaceAll("phone", "email")),
      1,
      "plan.json: FAILED",
    ],
  };
  test.each(Object.entries(rows))("sends nothing if %s after the plan", { timeout: 60_000 }, async (_sentence, [change, code, log]) => {
    const rehearsed = await rehearse({ "manifests/orders.yaml": orders("email: { hashed: true }, phone: { hashed: true }") });
    const run = await runReviewedApply(rehearsed.rehearsal, {
      approve: (artifacts) => {
        change(rehearsed, artifacts);
        return true;
      },
    });
    expect([run.code, sent(rehearsed.service.counts())], run.log).toEqual([code, []]);
    expect(run.log).toContain(log);
  });
});
