// A difference is drift or caused by the manifests, and unknown if git cannot say which.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { type EmbeddedOptions, seedAccount } from "../../../src/embedded/index.ts";
import type { Plan } from "../../../src/index.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { repositoryIn } from "../../support/git/remote.ts";
import { configText, keyVariable, writeFolder, writeProject } from "../../support/project-folder.ts";
import { startService, type TestService } from "../../support/service.ts";
import { byHandSteps, readySteps } from "../../support/steps.ts";

// Origins by `--base`, with real git repositories and the embedded service. main declares the state
// of the account; then either side changes.

const tag = (description: string, name = "pii"): string =>
  `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name} }\nspec: { name: PII, description: ${description} }\n`;
const integration = (paused: boolean): string =>
  `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec: { match: { name: Orders }, expect: { paused: ${paused} } }\n`;
const config = (rules: string): string =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec: { integration: orders, rules: [${rules}] }\n`;
const clear = (column: string): string => `{ match: { schema: public, table: users, column: ${column} }, set: { hashed: false } }`;
const hashed = (column: string): string => clear(column).replace("false", "true");
const start = { "tag.yaml": tag("Contains personal data"), "orders.yaml": integration(false), "config.yaml": config(clear("email")) };

interface Repository {
  readonly service: TestService;
  readonly folder: string;
  readonly git: (...args: readonly string[]) => string;
  readonly write: (files: Readonly<Record<string, string | undefined>>) => void;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  readonly made: (...argv: readonly string[]) => Promise<Plan>;
}

async function repository(files: Readonly<Record<string, string>> = start, options: EmbeddedOptions = {}, below = ""): Promise<Repository> {
  const made = await openRepository(files, options, below);
  onTestFinished(made.close);
  return made;
}

async function openRepository(
  files: Readonly<Record<string, string>>,
  options: EmbeddedOptions,
  below: string,
): Promise<Repository & { readonly close: () => Promise<void> }> {
  const service = await startService(options);
  const inside = Object.fromEntries(Object.entries(files).map(([path, text]) => [join(below, "manifests", path), text]));
  const top = writeFolder({ [join(below, "dimsync.yaml")]: configText(service.url), ...inside, ".gitignore": ".dimsync\n" });
  const folder = join(top, below);
  const git = repositoryIn(top);
  const run: Repository["run"] = (...argv) => runCommand([...argv, "-q"], folder, { [keyVariable]: service.apiKey });
  const write: Repository["write"] = (changed) => {
    for (const [path, text] of Object.entries(changed)) {
      const file = join(folder, "manifests", path);
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
    }
  };
  const close = async (): Promise<void> => {
    await service.close();
    rmSync(top, { recursive: true, force: true });
  };
  const made: Repository["made"] = async (...argv) => JSON.parse((await run(...argv, "-o", "json")).stdout) as Plan;
  return { service, folder, git, write, run, made, close };
}

type Account = Parameters<Parameters<TestService["mutate"]>[0]>[0];
const usersOf = (account: Account) => {
  const table = account.integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"];
  if (table === undefined) throw new Error("no table users");
  return table;
};
const hashLive = (account: Account): void => void Object.assign(usersOf(account).columns["email"] ?? {}, { hashed: true });
const describeLive =
  (text: string) =>
  (account: Account): void =>
    void Object.assign(account.tags[0] ?? {}, { description: text });
const pauseLive = (account: Account): void => void Object.assign(account.integrations[0] ?? {}, { paused: true });

const originsOf = (plan: Plan): readonly string[] =>
  [
    ...readySteps(plan).flatMap((item) =>
      Array.from(eachChange(item), ({ path, origin }) => `${item.address} ${path.split("/").slice(-2).join("/")} ${origin}`),
    ),
    ...byHandSteps(plan).map(({ address, path, origin }) => `byHand ${address} ${path} ${origin}`),
  ].filter((line) => !line.includes(" /id "));

describe("the origin of a difference", () => {
  const rows: readonly (readonly [
    string,
    Readonly<Record<string, string | undefined>>,
    readonly ((account: Account) => void)[],
    readonly string[],
  ])[] = [
    ["nothing moved", {}, [], []],
    ["a field changed in the manifests: config", { "tag.yaml": tag("Personal") }, [], ["Tag/pii /description config"]],
    ["a field changed in the account: drift", {}, [describeLive("Live")], ["Tag/pii /description drift"]],
    ["a field changed in both: conflict", { "tag.yaml": tag("Personal") }, [describeLive("Live")], ["Tag/pii /description conflict"]],
    ["changed to the same value in both: no difference", { "tag.yaml": tag("Same") }, [describeLive("Same")], []],
    ["a rule changed: config", { "config.yaml": config(hashed("email")) }, [], ["Schemas/orders email/hashed config"]],
    ["a column changed in the account: drift", {}, [hashLive], ["Schemas/orders email/hashed drift"]],
    [
      "one of each in one item",
      { "config.yaml": config(`${clear("email")}, ${hashed("display_name")}`) },
      [hashLive],
      ["Schemas/orders display_name/hashed config", "Schemas/orders email/hashed drift"],
    ],
    [
      "a step by hand that the manifests cause: config",
      { "orders.yaml": integration(true) },
      [],
      ["byHand Integration/orders /paused config"],
    ],
    ["a step by hand that the account causes: drift", {}, [pauseLive], ["byHand Integration/orders /paused drift"]],
    [
      "a new manifest: config",
      { "more.yaml": tag("Money").replaceAll("pii", "finance").replace("PII", "Finance") },
      [],
      ["Tag/finance /description config"],
    ],
    [
      "a renamed manifest: drift is still drift",
      { "tag.yaml": tag("Contains personal data", "personal") },
      [describeLive("Live")],
      ["Tag/personal /description drift"],
    ],
    [
      "a renamed manifest with another value: a conflict stays a conflict",
      { "tag.yaml": tag("New", "personal") },
      [describeLive("Live")],
      ["Tag/personal /description conflict"],
    ],
    [
      "a renamed configuration",
      { "config.yaml": config(clear("email")).replace("name: orders", "name: renamed") },
      [hashLive],
      ["Schemas/orders email/hashed drift"],
    ],
    ["a deleted manifest has no differences", { "tag.yaml": undefined }, [describeLive("Live")], []],
  ];
  let shared: Awaited<ReturnType<typeof openRepository>>;
  beforeAll(async () => {
    shared = await openRepository(start, {}, "");
  });
  afterAll(() => shared.close());

  test.each(rows)("%s", async (_sentence, files, moves, expected) => {
    const { service, write, made } = shared;
    onTestFinished(() => {
      write({ ...Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text === undefined ? "" : undefined])), ...start });
      service.mutate((account) => Object.assign(account, seedAccount()));
    });
    write(files);
    service.mutate((account) => {
      for (const move of moves) move(account);
    });
    expect(originsOf(await made("plan", "--base", "main"))).toEqual(expected);
  });

  test("is also in a drift report, and unknown without a base", async () => {
    const { service, write, made } = await repository();
    write({ "config.yaml": config(`${clear("email")}, ${hashed("display_name")}`) });
    service.mutate(hashLive);
    expect(originsOf(await made("drift", "--base", "main"))).toEqual([
      "Schemas/orders display_name/hashed config",
      "Schemas/orders email/hashed drift",
    ]);
    expect(originsOf(await made("plan")).every((line) => line.endsWith("undefined"))).toBe(true);
  });

  test("a relation and a create are drift if main declares them too", async () => {
    const related = tag("Contains personal data").replace("spec: {", "spec: { resources: [{ integration: { id: 51a1 } }], taggedBy: u-1,");
    const { write, made } = await repository({ "tag.yaml": related });
    write({ "tag.yaml": related.replace("{ integration: { id: 51a1 } }", "{ integration: { id: 51a1 } }, { integration: { id: 51a2 } }") });
    expect(originsOf(await made("plan", "--base", "HEAD"))).toEqual([
      "Tag/pii#51a1 taggedResources/51a1 drift",
      "Tag/pii#51a2 taggedResources/51a2 config",
    ]);
  });

  test("of a column that no apply has hashed or switched off is new, and nothing is hashed again", async () => {
    const mails = config('{ id: mails, match: { column: "*email*" }, set: { hashed: true }, reason: register 12 }');
    const { service, run, made, git } = await repository({ "orders.yaml": integration(false), "config.yaml": mails });
    expect((await run("apply", "--yes")).code).toBe(0);
    expect(git("status", "--porcelain", "manifests")).toBe("");
    service.mutate((account) => {
      const { columns } = usersOf(account);
      Object.assign(columns["email"] ?? {}, { hashed: false });
      columns["email2"] = { nameInDestination: "email2", enabled: true, hashed: false, isPrimaryKey: false };
    });
    expect(originsOf(await made("plan", "--base", "main"))).toEqual([
      "Schemas/orders email/hashed drift",
      "Schemas/orders email2/hashed new",
    ]);
    const human = (await run("plan", "--base", "main")).stdout;
    expect(human).toMatch(/^ {2}hash again +users\.email +orders/mu);
    expect(human).toMatch(/^ {2}hash +users\.email2 +orders/mu);
    expect(human.replaceAll(/\s+/gu, " ")).toContain("1 outside change is undone; 1 change is not from this pull request");
    const drift = (await run("drift", "--base", "main")).stdout;
    expect(drift).toMatch(/^ {2}no longer hashed +users\.email +orders/mu);
    expect(drift).toMatch(/^ {2}not hashed +users\.email2 +orders/mu);
  });

  test("the origin is unknown if problems of the base prevent a comparison", async () => {
    const { write, made } = await repository({
      "config.yaml": config("{ match: { schema: public, table: gone, column: x }, set: { hashed: true } }").replace(
        "integration: orders",
        "integration: { id: 8f1c }",
      ),
    });
    write({ "config.yaml": config(hashed("email")).replace("integration: orders", "integration: { id: 8f1c }") });
    expect(originsOf(await made("plan", "--base", "HEAD")).map((line) => line.split(" ").at(-1))).toEqual(["unknown"]);
  });

  test("if a list that only the base needs can't be read, origins are unknown, but the plan is complete", async () => {
    const owned = tag("Contains personal data").replace("description", "owner: { user: privacy@example.com }, description");
    const { write, made } = await repository({ "tag.yaml": owned }, { faults: ["GET /v1/users=status:403"] });
    write({ "tag.yaml": tag("Personal") });
    const planned = await made("plan", "--base", "HEAD");
    expect([originsOf(planned), planned.complete, planned.exit.code]).toEqual([["Tag/pii /description unknown"], true, 0]);
    expect(diagnosticsOf(planned)).toEqual([expect.objectContaining({ code: "I_BASE_UNREAD", severity: "info" })]);
  });
});

describe("reads and side effects of --base", () => {
  test("nothing is read twice, and only lists that the base needs and the audit log are read in addition", async () => {
    const { service, write, made } = await repository({
      ...start,
      "tag.yaml": tag("x").replace("description", "owner: { user: privacy@example.com }, description"),
    });
    write({ "tag.yaml": tag("Personal") });
    service.resetCounts();
    await made("plan");
    const without = service.requests.map(({ path }) => path).sort();
    service.resetCounts();
    await made("plan", "--base", "HEAD");
    expect(service.requests.map(({ path }) => path).sort()).toEqual([...without, "/v1/audit-logs", "/v1/users"].sort());
    service.resetCounts();
    await made("plan", "--base", "HEAD", "--only", "SchemaConfig/orders");
    expect(service.requests.map(({ path }) => path).sort()).toEqual(["/v1/integrations", "/v1/integrations/8f1c/schemas"]);
  });

  test("work tree and index stay unchanged, and nothing is left in the temporary folder", async () => {
    const { folder, git, write, made } = await repository();
    git("switch", "-qc", "change");
    write({ "tag.yaml": tag("staged"), "new.yaml": integration(true).replace("orders", "other") });
    git("add", "manifests/tag.yaml");
    write({ "tag.yaml": tag("in the work tree") });
    const state = () => [
      git("status", "--porcelain", "-uall"),
      git("diff", "--cached"),
      git("diff"),
      git("stash", "list"),
      readdirSync(folder).sort(),
    ];
    const before = state();
    // Not the folder in which other tests make plans meanwhile.
    const temporary = writeProject({});
    vi.stubEnv("TMPDIR", temporary);
    expect(readySteps(await made("plan", "--base", "main")).length).toBeGreaterThan(1);
    expect(state()).toEqual(before);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("a project below the repository's root, from a folder in it, with paths and a variables file", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dimsync's own variables look like this
    const { folder, git, write, service } = await repository({ "tag.yaml": tag('"${var.text}"') }, {}, "deploy/prod");
    writeFileSync(join(folder, "vars.yaml"), "text: Contains personal data\n");
    mkdirSync(join(folder, "sub"));
    git("switch", "-qc", "change");
    write({ "tag.yaml": tag("Personal") });
    service.mutate(describeLive("Live"));
    const { stdout } = await runCommand(
      ["plan", "../manifests/tag.yaml", "--var-file", "../vars.yaml", "--base", "main", "-q", "-o", "json"],
      join(folder, "sub"),
      { [keyVariable]: service.apiKey },
    );
    expect(originsOf(JSON.parse(stdout))).toEqual(["Tag/pii /description conflict"]);
  });

  test("a project without a config file", async () => {
    const { folder, service, git } = await repository();
    git("rm", "-q", "dimsync.yaml");
    git("commit", "-qm", "no config");
    service.mutate(describeLive("Live"));
    const { stdout } = await runCommand(["plan", "manifests/tag.yaml", "--base", "HEAD", "-q", "-o", "json"], folder, {
      DIMSYNC_BASE_URL: service.url,
      DIMSYNC_API_KEY: service.apiKey,
    });
    expect(originsOf(JSON.parse(stdout))).toEqual(["Tag/pii /description drift"]);
  });

  test("a base with invalid manifests is reported", async () => {
    const { folder, service, write } = await repository({
      ...start,
      "tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { nome: PII }\n",
    });
    write({ "tag.yaml": tag("Personal") });
    const { code, stderr } = await runCommand(["plan", "--base", "HEAD"], folder, { [keyVariable]: service.apiKey });
    expect([code, stderr]).toEqual([0, expect.stringContaining("The project at HEAD could only be read in part (E_UNKNOWN_KEY). ")]);
  });
});

test("with an error in a manifest, the account is not read for the base either, and no read is said to have failed", async () => {
  const { run, write, service } = await repository();
  write({ "tag.yaml": tag("Personal").replace("name: PII", "nme: PII") });
  const { code, stdout } = await run("plan", "--base", "main");
  expect([code, stdout]).toEqual([1, expect.stringContaining("The account was not read. Fix the errors first.")]);
  expect(service.requests).toEqual([]);
});

describe("a base that does not exist", () => {
  test.each([
    ["main2", "git fetch --all --tags"],
    ["origin/main", "git fetch origin +refs/heads/main:refs/remotes/origin/main"],
    ["-x", undefined],
    ["main^{tree}", "git fetch --all --tags"],
  ])("%s says what to do", async (ref, command) => {
    const { run, service } = await repository();
    const { code, stderr } = await run("plan", `--base=${ref}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining("E_BASE_REF")]);
    if (command !== undefined) expect(stderr).toContain(`\n  ${command}\n`);
    expect(service.requests).toEqual([]);
  });

  test("in a shallow clone, the error has a command that fetches the missing history", async () => {
    const { folder, git, write, service } = await repository();
    git("branch", "base");
    write({ "tag.yaml": tag("Personal") });
    git("commit", "-qam", "change");
    const clone = join(writeProject({}), "clone");
    execFileSync("git", ["clone", "-q", "--depth", "1", pathToFileURL(folder).href, clone], { stdio: "pipe" });
    const plan = (ref: string) => runCommand(["plan", "--base", ref, "-q", "-o", "json"], clone, { [keyVariable]: service.apiKey });
    const bring = ({ stderr }: Ran): void => {
      const command = /^ {2}(git fetch .*)$/mu.exec(stderr)?.[1] ?? "";
      execFileSync("git", ["-C", clone, ...command.split(" ").slice(1)], { stdio: "pipe" });
    };
    for (const [ref, command] of [
      ["origin/base", "git fetch --depth=1 origin +refs/heads/base:refs/remotes/origin/base"],
      ["HEAD~1", "git fetch --unshallow"],
    ] as const) {
      const refused = await plan(ref);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/E_BASE_REF.*shallow clone/u) });
      expect(refused.stderr).toContain(`\n  ${command}\n`);
      bring(refused);
      expect(originsOf(JSON.parse((await plan(ref)).stdout))).toEqual(["Tag/pii /description config"]);
    }
  });

  test("outside a repository", async () => {
    const folder = writeProject({ "dimsync.yaml": configText("http://127.0.0.1:9"), "manifests/a.yaml": start["tag.yaml"] });
    const { code, stderr } = await runCommand(["plan", "--base", "main"], folder, {
      [keyVariable]: "k",
      GIT_CEILING_DIRECTORIES: tmpdir(),
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/E_BASE_REF: --base needs the git repository/u)]);
    expect(readFileSync(join(folder, "manifests/a.yaml"), "utf8")).toBe(start["tag.yaml"]);
  });

  test("a ref without a config file had no manifests: everything is new", async () => {
    const { folder, git, made } = await repository();
    git("switch", "-q", "--orphan", "empty");
    git("commit", "-q", "--allow-empty", "-m", "empty");
    git("switch", "-q", "main");
    writeFileSync(join(folder, "manifests/tag.yaml"), tag("Personal"));
    expect(originsOf(await made("plan", "--base", "empty"))).toEqual(["Tag/pii /description config"]);
  });
});

test("a column that the source added, and that is switched off until someone reviews it, is not a change of the manifests", async () => {
  const rules = `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec: { integration: { id: 8f1c }, unreviewed: disable, rules: [${clear("email")}] }\n`;
  const { service, folder, git, run, made } = await repository({ "config.yaml": rules });
  const config = `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { default: { baseUrl: "${service.url}", apiKey: { $secret: { env: ${keyVariable} } }, catalog: dimsync.catalog.yaml } }\n`;
  writeFileSync(join(folder, "dimsync.yaml"), config);
  const accepted = await run("catalog", "accept", "--all");
  expect(accepted.code, accepted.stderr).toBe(0);
  git("add", "-A");
  git("commit", "-qm", "review columns");
  expect((await run("apply", "--yes")).code).toBe(0);
  service.mutate((account) => {
    const { columns } = usersOf(account);
    Object.assign(columns, { fax: { ...columns["email"], nameInDestination: "fax", enabled: true, hashed: false } });
  });
  // `ci` compares with the commit that was applied last.
  for (const argv of [
    ["plan", "--base", "main"],
    ["drift", "--base", "main"],
    ["ci", "plan"],
    ["ci", "drift"],
  ])
    expect([argv, originsOf(await made(...argv))]).toEqual([argv, ["Schemas/Orders fax/enabled drift"]]);
});
