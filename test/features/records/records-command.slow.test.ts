// Records can be moved, locked and restored, and a lease is ended only by a person.
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { main } from "../../../src/cli/cli.ts";
import { openFolderRecords } from "../../../src/core/records/folder/index.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitRemote } from "../../support/git/remote.ts";
import { postgresOfSuite } from "../../support/postgres/shared.ts";
import { pathOf } from "../../support/programs.mjs";
import { needs } from "../../support/programs.ts";

const postgres = postgresOfSuite();

const example = fileURLToPath(new URL("../../../examples/quickstart", import.meta.url));
const hasPostgres = pathOf("postgresql") !== undefined;
const secrets = { LAKE_SECRET_KEY: "canary-lake", RETURNS_DB_PASSWORD: "canary-returns" };

/** A project in a clone, with its account in a file outside, as several machines would use it. */
async function machines() {
  const remote = gitRemote();
  const account = join(remote.clone(), "account.json");
  const env = {
    ...(gitEnv as Record<string, string>),
    ...secrets,
    DIMSYNC_ALLOW_PATH: dirname(account),
    DIMSYNC_DATABASE_URL: hasPostgres ? await postgres.database() : "postgres://127.0.0.1:1/none",
  };
  const machine = (config?: string) => {
    const folder = remote.clone();
    for (const name of ["manifests", "dimsync.yaml"]) cpSync(join(example, name), join(folder, name), { recursive: true });
    const file = join(folder, "dimsync.yaml");
    const text = config ?? readFileSync(file, "utf8").replace("embedded:.dimsync/account.json", `embedded:${account}`);
    writeFileSync(file, text);
    return {
      folder,
      env,
      config: () => readFileSync(file, "utf8"),
      run: async (...argv: readonly string[]) => runCommand([...argv, "-q", "--no-color"], folder, env),
    };
  };
  return { machine, remote };
}

test("records in git are used by a second machine, and move to PostgreSQL and back", needs("postgresql"), async () => {
  const { machine, remote } = await machines();
  const first = machine();
  expect(await first.run("records", "init")).toMatchObject({ code: 0 });
  expect(first.config()).toMatch(/vars: \{ frequency: "60" \}\n {4}records:/u);
  expect(first.config()).toContain("# The embedded service");
  expect(remote.tip("refs/dimsync/demo")).toBeDefined();
  expect((await first.run("apply", "--yes")).code).toBe(0);
  expect(existsSync(join(first.folder, "dimsync.bindings.yaml"))).toBe(false);

  const second = machine(first.config());
  expect(await second.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  const shown = JSON.parse((await second.run("records", "show", "-o", "json")).stdout);
  expect(shown).toMatchObject({ kind: "Records", target: "demo", store: "git", open: [], applied: [], covered: {} });
  expect(shown.created).toContainEqual(expect.objectContaining({ address: "Asset/lake", naturalKey: expect.anything() }));
  expect(shown.bindings.map(({ address }: { readonly address: string }) => address)).toEqual([
    "Asset/lake",
    "Asset/warehouse",
    "Integration/orders",
    "Integration/returns",
    "Tag/pii",
  ]);
  const bundle = (await second.run("records", "export")).stdout;

  const moved = await second.run("records", "migrate", "--to", "postgres");
  expect(moved).toMatchObject({ code: 0 });
  expect(moved.stderr).toContain("Moved 5 recorded ids");
  expect(second.config()).toContain("postgres:");
  expect((await second.run("records", "export")).stdout).toBe(bundle);
  expect(await second.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  // Runs with the old config are refused.
  expect(await first.run("apply", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("were moved to schema dimsync in PostgreSQL"),
  });

  expect(await second.run("records", "migrate", "--to", "folder")).toMatchObject({ code: 0 });
  expect(second.config()).not.toContain("records:");
  expect((await second.run("records", "export")).stdout).toBe(bundle);
  expect(await second.run("apply", "--yes")).toMatchObject({ code: 0 });
  for (const text of [bundle, JSON.stringify(moved)]) expect(text).not.toContain("canary");
});

test("init refuses a target that has records, and names the command that moves them", async () => {
  const { run } = (await machines()).machine();
  expect((await run("apply", "--yes")).code).toBe(0);
  const refused = await run("records", "init", "--to", "postgres");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("dimsync records migrate --to postgres") });
});

test("a lock blocks apply until unlock, but not plan", async () => {
  const { run } = (await machines()).machine();
  expect(await run("records", "lock")).toMatchObject({ code: 1, stderr: expect.stringContaining("needs a reason") });
  expect(await run("records", "lock", "--reason", "moving the warehouse")).toMatchObject({ code: 0 });
  expect((await run("records", "show")).stdout).toContain("moving the warehouse");
  expect((await run("plan")).code).toBe(0);
  expect(await run("apply", "--yes")).toMatchObject({ code: 6, stderr: expect.stringContaining("moving the warehouse") });
  expect(await run("records", "unlock")).toMatchObject({ code: 0 });
  expect((await run("apply", "--yes")).code).toBe(0);
  expect((await run("records", "show")).stdout).toContain("5 recorded ids");
});

test("the lease of a run is ended only after a confirmation in a terminal", async () => {
  const { run, folder, env } = (await machines()).machine();
  const records = openFolderRecords({ folder, target: "demo", bindingsFile: join(folder, "dimsync.bindings.yaml") });
  const held = await records.begin({ runId: "run-1", waitMs: 0 });
  await held.take();
  const refused = await run("records", "unlock");
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("in a terminal") });
  const unlock = async (answer: string) => {
    const terminal = { stdinIsTty: true, stderrIsTty: true, ask: async () => answer };
    return await main(["records", "unlock", "--no-color"], capturedIo({ cwd: folder, env, ...terminal }).io);
  };
  expect(await unlock("no")).toBe(6);
  expect(await records.lease()).toMatchObject({ runId: "run-1" });
  expect(await unlock("yes")).toBe(0);
  expect(await records.lease()).toBeUndefined();
  await held.release().catch(() => undefined);
});

test("a bundle is restored into an empty store only", async () => {
  const { run, folder } = (await machines()).machine();
  expect((await run("apply", "--yes")).code).toBe(0);
  writeFileSync(join(folder, "bundle.json"), (await run("records", "export")).stdout);
  expect(await run("records", "restore", "bundle.json")).toMatchObject({ code: 0, stderr: expect.stringContaining("already") });
  expect(await run("unbind", "Asset/lake")).toMatchObject({ code: 0 });
  expect(await run("records", "restore", "bundle.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("empty store") });
  writeFileSync(join(folder, "other.json"), readFileSync(join(folder, "bundle.json"), "utf8").replace('"target":"demo"', '"target":"old"'));
  expect(await run("records", "restore", "other.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("first line") });
  writeFileSync(join(folder, "broken.json"), "{");
  expect(await run("records", "restore", "broken.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("not valid JSON") });
  expect(await run("records", "restore", "none.json")).toMatchObject({ code: 1 });
  expect(await run("records", "shw")).toMatchObject({ code: 1, stderr: expect.stringContaining("show") });
});
