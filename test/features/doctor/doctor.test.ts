import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runDoctor } from "../../../src/features/doctor/command.ts";
import type { DoctorReport } from "../../../src/features/doctor/doctor.ts";
import type { DoctorFlags } from "../../../src/features/doctor/index.ts";
import { dbtManifest } from "../../core/labels/dbt-manifest.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";
import { freePort } from "../../support/free-port.ts";
import { repositoryIn } from "../../support/git/remote.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject(undefined, { isDoctor: true });
});
afterEach(() => project.close());

const json = { output: ["json"] };

async function doctor(
  of: AccountProject = project,
  env: Readonly<Record<string, string>> = {},
  flags: Partial<DoctorFlags> = {},
): Promise<DoctorReport> {
  const { out, err } = await of.run(runDoctor, { ...json, ...flags }, [], env);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as DoctorReport;
}

const named = ({ checks }: DoctorReport, state: string): readonly string[] =>
  checks.flatMap((one) => (one.state === state ? [one.check] : []));

const editConfig = async (edit: (text: string) => string): Promise<void> => {
  const file = join(project.folder, "dimsync.yaml");
  await writeFile(file, edit(await readFile(file, "utf8")));
};

/** `defaults.taggedBy`, which import cannot know. */
const withTagger = (): Promise<void> => editConfig((text) => `${text}defaults: { taggedBy: dana@example.com }\n`);

test("all checks of an imported account pass, and only GET was sent", async () => {
  await project.importJson();
  await withTagger();
  const report = await doctor();
  expect(report.checks.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(report.exit).toEqual({ code: 0, reasons: [] });
  expect(Object.keys(project.service.counts())).toEqual(["GET"]);
  expect((await project.run(runDoctor, {})).out).toContain("Ready to plan.");
});

describe("one cause is one failed check, and what depends on it is skipped", () => {
  const liveChecks = [
    "service",
    "read tags",
    "read users",
    "read audit log",
    "read schemas",
    "response form",
    "paging",
    "extended",
    "clock",
  ];
  test("a key that the service refuses", async () => {
    await project.importJson();
    project.service.addFault("* .*=status:401");
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["key"]);
    expect(named(report, "skip")).toEqual(liveChecks.slice(1));
    expect(report.checks.find(({ check }) => check === "key")?.found).toContain("refused the API key with status 401");
    expect((await project.run(runDoctor, {})).out).toContain("Fix the failed checks first.");
  });

  test("a host that does not respond", async () => {
    const port = await freePort();
    await editConfig((text) => `${text.replace(project.service.url, `http://127.0.0.1:${port}`)}client: { retries: 0 }\n`);
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["service"]);
    expect(named(report, "skip")).toEqual(liveChecks.slice(1));
    expect(report.checks.find(({ check }) => check === "service")?.found).toContain("ECONNREFUSED");
  });

  test("no key", async () => {
    const report = await doctor(project, { DIMSYNC_API_KEY: "" });
    expect(named(report, "fail")).toEqual(["key"]);
    expect(named(report, "skip")).toEqual(liveChecks);
    expect(report.checks.find(({ check }) => check === "key")?.found).toContain("DIMSYNC_API_KEY");
    expect(Object.keys(project.service.counts())).toEqual([]);
  });

  test("a base URL that cannot be used is an error of the config", async () => {
    await editConfig((text) => text.replace(project.service.url, "http://api.example.com"));
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["config"]);
    expect(named(report, "skip")).toEqual(["base URL", "key", ...liveChecks]);
  });

  test("a proxy that cannot be used", async () => {
    await editConfig((text) => text.replace(project.service.url, "https://api.example.com"));
    const report = await doctor(project, { HTTPS_PROXY: "socks://proxy.example.com" });
    expect(named(report, "fail")).toEqual(["proxy"]);
    expect(named(report, "skip")).toEqual(["key", ...liveChecks]);
  });

  test("schemas that the key must not read leave their form unknown", async () => {
    project.service.addFault("GET /schemas$=status:403");
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["read schemas"]);
    expect(named(report, "skip")).toEqual(["response form"]);
  });
});

test.each([
  ["without the audit log there is a warning, since only attribution needs it", "GET /v1/audit-logs=status:403", "read audit log", "warn"],
  ["users that the key must not read fail", "GET /v1/users=status:403", "read users", "fail"],
  ["integrations that the key must not read fail", "GET /v1/integrations=status:403", "key", "fail"],
  ["a key that the service does not know fails", "GET /v1/integrations=status:401", "key", "fail"],
])("%s", async (_, fault, check, state) => {
  await project.importJson();
  project.service.addFault(fault);
  const report = await doctor();
  expect(report.checks.find((one) => one.check === check)).toMatchObject({
    state,
    advice: expect.stringMatching(/role of th(?:e API|is) key|valid key/u),
  });
  expect(report.exit.code).toBe(state === "fail" ? 1 : 0);
});

test.each([
  [false, false, "ok", "does not answer GET"],
  [true, false, "ok", "set service: { extended: true }"],
  [false, true, "warn", "extended is on, but"],
  [true, true, "ok", "extended is on."],
])("a service that reads assets: %s, the switch: %s", async (extended, isOn, state, found) => {
  const other = await openAccountProject(undefined, { isDoctor: true, extended });
  try {
    const file = join(other.folder, "dimsync.yaml");
    if (isOn) await writeFile(file, (await readFile(file, "utf8")).replace("apiKey:", "service: { extended: true }, apiKey:"));
    const { checks } = await doctor(other);
    expect(checks.find(({ check }) => check === "extended")).toMatchObject({ state, found: expect.stringContaining(found) });
    expect(other.service.requests.filter(({ path }) => path.startsWith("/v1/assets/"))).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test("the schemas of one integration are read once, or those of each with --all-integrations", async () => {
  await project.importJson();
  const reads = async (allIntegrations: boolean) => {
    project.service.resetCounts();
    const report = await doctor(project, {}, { allIntegrations });
    const paths = project.service.requests.map(({ path }) => path).filter((path) => path.endsWith("/schemas"));
    return { count: paths.length, different: new Set(paths).size, failed: named(report, "fail") };
  };
  const all = project.service.state().integrations.length;
  expect(await reads(false)).toEqual({ count: 1, different: 1, failed: [] });
  expect(await reads(true)).toEqual({ count: all, different: all, failed: [] });
  project.service.addFault("GET /v1/integrations/b27d/schemas=status:400");
  expect(await reads(false)).toMatchObject({ failed: [] });
  expect(await reads(true)).toMatchObject({ failed: ["read schemas"] });
});

test("a binding to an object that no longer exists fails, one without a manifest is a warning", async () => {
  await project.importJson();
  project.service.mutate((account) => {
    account.tags = account.tags.filter(({ id }) => id !== "t-3");
  });
  const file = join(project.folder, "dimsync.bindings.yaml");
  await writeFile(file, (await readFile(file, "utf8")).replace("Tag/finance:", "Tag/old:"));
  const found = (await doctor()).checks.filter(({ check }) => check === "bindings");
  expect(found.map(({ state, found: text }) => `${state} ${text}`).sort()).toEqual([
    "fail Tag/gold is bound to t-3, which no longer exists in the account.",
    "warn Tag/old is bound to t-2, but no manifest has that address.",
  ]);
});

test("labels that nothing uses, and labelled columns that the account does not have, are warnings", async () => {
  await project.importJson();
  await withTagger();
  expect(
    (await doctor()).checks.filter(({ check }) => /label|dbt/u.test(check)),
    "without a Classification",
  ).toEqual([]);
  await project.write("target/manifest.json", dbtManifest({ customers: { columns: { email: { meta: { pii: true } } } } }));
  await project.write(
    "manifests/personal.yaml",
    "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  from:\n    - dbt: { manifest: target/manifest.json, label: pii, where: { meta: { pii: true } } }\n",
  );
  const found = (await doctor()).checks.filter(({ check }) => /label|dbt/u.test(check));
  expect(found.map(({ check, state, found: text }) => `${check}: ${state}: ${text}`)).toEqual([
    'labels: warn: No rule, policy or `expect` entry matches label "pii".',
    expect.stringMatching(/^labelled columns: warn: 1 labelled column matches no column that this run read: RAW_SHOP\.customers\.email/u),
  ]);
  await project.write(
    "manifests/policy.yaml",
    "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: pii }\nspec: { severity: error, when: { column: { label: pii } }, require: { hashed: true }, message: hash it }\n",
  );
  expect((await doctor()).checks).toContainEqual({ check: "labels", state: "ok", found: "1 label, each used by a rule or a policy." });
  project.service.addFault("* .*=status:401");
  expect((await doctor()).checks.at(-1)).toMatchObject({ check: "labelled columns", state: "skip" });
});

test("files that a run elsewhere does not have, links that are not read, and ignore entries without a match are warnings", async () => {
  await project.importJson();
  await project.write(".gitignore", "# local\n*.local.yaml\n.dimsync/\n");
  await editConfig((text) => `${text}ignore: [{ address: Tag/pii, path: /descripton, reason: theirs }]\n`);
  repositoryIn(project.folder);
  const tag = (name: string) => `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name} }\nspec: { name: ${name} }\n`;
  await project.write("manifests/a.local.yaml", tag("a"));
  await project.write("manifests/new file.yaml", tag("b"));
  await symlink("/etc", join(project.folder, "manifests/elsewhere"));
  const { checks } = await doctor();
  expect(checks.filter(({ check }) => check === "files" || check === "ignore")).toEqual([
    {
      check: "files",
      state: "warn",
      found: expect.stringContaining("manifests/elsewhere is a symbolic link to /etc"),
      advice: "It is in dimsync.yaml:3:13.",
    },
    {
      check: "files",
      state: "warn",
      found: expect.stringContaining("Git ignores 1 file of the project: manifests/a.local.yaml (.gitignore:2). Other"),
    },
    {
      check: "files",
      state: "warn",
      found: "The commit does not have 1 file of the project: manifests/new file.yaml. Runs elsewhere, such as in CI, are without it.",
      advice: "Add it and commit: git add 'manifests/new file.yaml'",
    },
    {
      check: "ignore",
      state: "warn",
      found: expect.stringContaining('Tag/pii has no "descripton", so the entry ignores nothing (theirs). Did you mean description?'),
      advice: expect.stringMatching(/^It is in dimsync.yaml:\d+:\d+\.$/u),
    },
  ]);
});

test("tags with resources and no user who tags are a warning", async () => {
  await project.importJson();
  const tagger = async () => (await doctor()).checks.find(({ check }) => check === "tagged by");
  expect(await tagger()).toMatchObject({ state: "warn", advice: expect.stringContaining("defaults.taggedBy") });
  await withTagger();
  expect(await tagger()).toMatchObject({ state: "ok" });
});

test.each([
  ["lists with pages that the response does not mention", { paging: { style: "silent", size: 50 } }, "paging", "warn"],
  ["schemas without columns", { schemaForm: "snake" }, "response form", "warn"],
] as const)("doctor warns of %s", async (_, options, check, state) => {
  const other = await openAccountProject(undefined, { isDoctor: true, ...options });
  try {
    expect((await doctor(other)).checks.find((one) => one.check === check)?.state).toBe(state);
  } finally {
    await other.close();
  }
});

test("a manifest of another schema version is named", async () => {
  await project.importJson();
  const manifest = "apiVersion: dimsync/v2\nkind: Tag\nmetadata: { name: z }\nspec: { name: Z }\n";
  await writeFile(join(project.folder, "manifests/later.yaml"), manifest);
  const { out, code } = await project.run(runDoctor, {});
  expect(code).toBe(1);
  expect(out).toMatch(/^fail +manifests +manifests\/later\.yaml has another apiVersion: this dimsync reads dimsync\/v1\./mu);
});
