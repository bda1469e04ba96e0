// doctor reports each cause once, and sends only GET.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runDoctor } from "../../../src/features/doctor/command.ts";
import { clockCheck, type DoctorReport } from "../../../src/features/doctor/doctor.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";
import { runCommand } from "../../support/command.ts";
import { freePort } from "../../support/free-port.ts";
import { repositoryIn } from "../../support/git/remote.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject(undefined, { isDoctor: true });
});
afterEach(() => project.close());

const json = { output: ["json"] };

async function doctor(of: AccountProject = project, env: Readonly<Record<string, string>> = {}): Promise<DoctorReport> {
  const { out, err } = await of.run(runDoctor, json, [], env);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as DoctorReport;
}

const named = ({ checks }: DoctorReport, state: string): readonly string[] =>
  checks.flatMap((one) => (one.state === state ? [one.check] : []));

const editConfig = async (edit: (text: string) => string): Promise<void> => {
  const file = join(project.folder, "dimsync.yaml");
  await writeFile(file, edit(await readFile(file, "utf8")));
};

test("all checks of an imported account pass, and only GET was sent", async () => {
  await project.importJson();
  const report = await doctor();
  expect(report.checks.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(report.exit).toEqual({ code: 0, reasons: [] });
  expect(Object.keys(project.service.counts())).toEqual(["GET"]);
  expect((await project.run(runDoctor, {})).out).toContain("Ready to plan.");
});

describe("one cause is one failed check, and what depends on it is not checked", () => {
  const isLive = ({ check }: DoctorReport["checks"][number]): boolean => /^(?:read|response|paging|clock)/u.test(check);
  test("a key that the service refuses", async () => {
    await project.importJson();
    project.service.addFault("* .*=status:401");
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["key"]);
    expect(report.checks.filter(isLive)).toEqual([]);
    expect(report.checks.find(({ check }) => check === "key")?.found).toContain("refused the API key with status 401");
    expect((await project.run(runDoctor, {})).out).toContain("Fix the failed checks first.");
  });

  test.each([
    ["dimsync.yaml", "", "notify: { url: https://hooks.example.com/x }\n", /^E_LITERAL_SECRET: dimsync\.yaml:\d+:\d+ /u],
    [
      "manifests/two.yaml",
      "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: all }\nspec: { integrations: { names: ['*'] }, rules: [] }\n",
      "",
      /^E_CONFLICTING_CONFIGS: manifests\/\S+:\d+:\d+ /u,
    ],
  ] as const)("errors of the project, which only a plan finds: %s", async (path, text, more, found) => {
    await project.importJson();
    if (text === "") await editConfig((config) => config + more);
    else await project.write(path, text);
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["project"]);
    expect(report.checks.find(({ check }) => check === "project")?.found).toMatch(found);
    expect(report.exit.code).toBe(1);
  });

  test("a host that does not respond", async () => {
    const port = await freePort();
    await editConfig((text) => `${text.replace(project.service.url, `http://127.0.0.1:${port}`)}client: { retries: 0 }\n`);
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["service"]);
    expect(report.checks.filter(isLive)).toEqual([]);
    expect(report.checks.find(({ check }) => check === "service")?.found).toContain("ECONNREFUSED");
  });

  test("no key", async () => {
    const report = await doctor(project, { DIMSYNC_API_KEY: "" });
    expect(named(report, "fail")).toEqual(["key"]);
    expect(report.checks.filter(isLive)).toEqual([]);
    expect(report.checks.find(({ check }) => check === "key")?.found).toContain("DIMSYNC_API_KEY");
    expect(Object.keys(project.service.counts())).toEqual([]);
  });

  test("a base URL that cannot be used", async () => {
    await editConfig((text) => text.replace(project.service.url, "http://api.example.com"));
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["base URL"]);
    expect(report.checks.filter(isLive)).toEqual([]);
  });

  test("schemas that the key must not read", async () => {
    project.service.addFault("GET /schemas$=status:403");
    const report = await doctor();
    expect(named(report, "fail")).toEqual(["response form"]);
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

test("a user who tags and has left the account is named, with the line in dimsync.yaml", async () => {
  await project.importJson();
  const lineOf = async (): Promise<number> =>
    (await readFile(join(project.folder, "dimsync.yaml"), "utf8")).split("\n").findIndex((line) => line.includes("gone@")) + 1;
  await editConfig((text) => `${text}defaults: { taggedBy: gone@example.com }\n`);
  const { checks, exit } = await doctor();
  expect(checks.find(({ check }) => check === "user who tags")).toMatchObject({
    state: "warn",
    found: expect.stringContaining("no user gone@example.com"),
    advice: expect.stringContaining(`in dimsync.yaml:${await lineOf()}:`),
  });
  expect(exit.code).toBe(0);
});

test("files that the commit does not have are a warning", async () => {
  await project.importJson();
  await project.write(".gitignore", "*.local.yaml\n.dimsync/\n");
  repositoryIn(project.folder);
  const tag = (name: string) => `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name} }\nspec: { name: ${name} }\n`;
  await project.write("manifests/a.local.yaml", tag("a"));
  await project.write("manifests/new file.yaml", tag("b"));
  expect((await doctor()).checks.find(({ check }) => check === "checkout")).toEqual({
    check: "checkout",
    state: "warn",
    found: "The commit does not have 2 files of the project: manifests/new file.yaml, manifests/a.local.yaml.",
    advice: "Runs elsewhere, such as in CI, are without them. Commit: git add --force 'manifests/new file.yaml' manifests/a.local.yaml",
  });
});

test("jobs that do not name a target and its keys are a warning, and those that init writes are not", async () => {
  const jobs = async () => (await doctor()).checks.find(({ check }) => check === "CI jobs");
  expect(await jobs()).toBeUndefined();
  const env = { DIMSYNC_BASE_URL: "" };
  expect((await runCommand(["init", "--ci", "github"], project.folder, env)).code).toBe(0);
  expect(await jobs()).toMatchObject({ state: "ok" });
  const file = join(project.folder, ".github/workflows/dimsync-apply.yml");
  const written = await readFile(file, "utf8");
  await writeFile(file, written.replace(/(?<=DIMSYNC_ALLOWED_HOSTS: )"[^"]*"/u, '"api.example.com"'));
  expect(await jobs()).toMatchObject({ state: "warn", advice: expect.stringContaining("Add it to DIMSYNC_ALLOWED_HOSTS in .github") });
  await writeFile(file, written);
  await editConfig((text) =>
    text.replace(/^targets:\n/mu, 'targets:\n  us: { baseUrl: "https://us.example.com", apiKey: { $secret: { env: US_API_KEY } } }\n'),
  );
  const { checks } = await doctor(project, { DIMSYNC_TARGET: "prod" });
  expect(checks.find(({ check }) => check === "CI jobs")).toMatchObject({
    state: "warn",
    found: expect.stringContaining("us (its name, US_API_KEY, US_READ_KEY)"),
    advice: expect.stringContaining("write new jobs: dimsync init"),
  });
});

test.each([
  [undefined, "ok"],
  [5, "ok"],
  [-60, "warn"],
  [3600, "fail"],
])("a clock that is %s seconds ahead of the service's: %s", (seconds, state) => {
  expect(clockCheck(seconds === undefined ? undefined : [0, seconds * 1000]).state).toBe(state);
});
