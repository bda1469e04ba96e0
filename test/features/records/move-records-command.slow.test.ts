// Records move between all stores, and nothing is created again because of it.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitRemote } from "../../support/git/remote.ts";
import { postgresOfSuite } from "../../support/postgres/shared.ts";
import { needs } from "../../support/programs.ts";

const postgres = postgresOfSuite();

const example = fileURLToPath(new URL("../../../examples/quickstart", import.meta.url));

it("closes a store for good whose records were moved", async () => {
  const folder = gitRemote().clone();
  for (const name of ["manifests", "dimsync.yaml"]) cpSync(join(example, name), join(folder, name), { recursive: true });
  const file = join(folder, "dimsync.yaml");
  const secrets = { LAKE_SECRET_KEY: "canary-lake", RETURNS_DB_PASSWORD: "canary-returns" };
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q", "--no-color"], folder, { ...gitEnv, ...secrets });
  expect((await run("apply", "--yes")).code).toBe(0);
  for (const store of ["git", "git:refs/dimsync/second"]) {
    const old = readFileSync(file, "utf8");
    expect((await run("records", "migrate", "--to", store)).code).toBe(0);
    const moved = readFileSync(file, "utf8");
    // As on a branch that was made before.
    writeFileSync(file, old);
    for (const argv of [["plan"], ["apply", "--yes"], ["bind", "Asset/lake=d-99"], ["records", "unlock"]]) {
      const { code, stderr } = await run(...argv);
      expect([argv.join(" "), code, stderr]).toEqual([argv.join(" "), 1, expect.stringContaining("E_RECORDS_MOVED")]);
      expect(stderr).toContain(`records: { git: { ref: refs/dimsync/${store === "git" ? "demo" : "second"}, id: `);
      expect(stderr).not.toContain("dimsync records unlock");
    }
    writeFileSync(file, moved);
    expect((await run("plan", "--detailed-exitcode")).code).toBe(0);
  }
  const reserved = await run("records", "lock", "--reason", "the records were moved to another place");
  expect([reserved.code, reserved.stderr]).toEqual([1, expect.stringContaining("E_USAGE")]);
});

/** A project with one applied asset. */
async function appliedAsset() {
  const folder = gitRemote().clone();
  const run = (...argv: readonly string[]) =>
    runCommand([...argv, "-q", "--no-color"], folder, { ...gitEnv, LAKE_SECRET_KEY: "canary-lake" });
  mkdirSync(join(folder, "manifests"));
  cpSync(join(example, "dimsync.yaml"), join(folder, "dimsync.yaml"));
  const [, lake = ""] = readFileSync(join(example, "manifests/warehouse.yaml"), "utf8").split("---\n");
  const manifest = join(folder, "manifests/lake.yaml");
  writeFileSync(manifest, lake);
  await run("plan", "--out", "plan.json");
  expect((await run("apply", "plan.json", "--yes")).code).toBe(0);
  return { folder, run, renameTo: (name: string) => writeFileSync(manifest, lake.replace("name: lake", `name: ${name}`)) };
}

it("never creates an asset again after its binding was lost and the records were moved or restored", async () => {
  const { folder, run, renameTo } = await appliedAsset();
  rmSync(join(folder, "dimsync.bindings.yaml"));
  const isKnown = async (): Promise<void> => {
    renameTo("lake2");
    expect((await run("plan")).stdout).toMatch(/record id +Asset\/lake2, renamed from Asset\/lake /u);
    renameTo("lake");
    const again = await run("apply", "plan.json", "--yes");
    expect([again.code, again.stderr]).toEqual([5, expect.stringMatching(appliedBefore)]);
  };
  // The run and the time of the apply, not of the migration.
  const appliedBefore = /E_PLAN_APPLIED: .* at \S+ by run \S+\./u;
  const [sentence = ""] = appliedBefore.exec((await run("apply", "plan.json", "--yes")).stderr) ?? [];
  await isKnown();
  const exported = (await run("records", "export")).stdout;
  for (const store of ["git", "folder"]) {
    const moved = await run("records", "migrate", "--to", store);
    expect([moved.code, moved.stderr]).toEqual([
      0,
      expect.stringContaining("1 created object, 0 creates with an unknown outcome, 1 applied"),
    ]);
    expect((await run("records", "export")).stdout).toBe(exported);
    await isKnown();
    expect((await run("apply", "plan.json", "--yes")).stderr).toContain(sentence);
  }
  writeFileSync(join(folder, "export"), exported);
  for (const name of readdirSync(join(folder, ".dimsync")))
    if (!name.startsWith("account")) rmSync(join(folder, ".dimsync", name), { recursive: true });
  expect((await run("plan")).stdout).toContain("create   Asset/lake ");
  expect(await run("records", "restore", "export")).toMatchObject({ code: 0 });
  await isKnown();
});

it("plans the same after unbind and a migration as before the migration", async () => {
  const { run } = await appliedAsset();
  expect((await run("unbind", "Asset/lake")).code).toBe(0);
  const before = (await run("plan")).stdout;
  expect(before).toContain("create   Asset/lake ");
  expect((await run("records", "migrate", "--to", "git")).code).toBe(0);
  expect((await run("plan")).stdout).toBe(before);
});

/** A clone with a config whose target `demo` has these `records`. */
function projectWith(records: string) {
  const folder = gitRemote().clone();
  for (const name of ["manifests", "dimsync.yaml"]) cpSync(join(example, name), join(folder, name), { recursive: true });
  const file = join(folder, "dimsync.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("  demo:\n", `  demo:\n    records: ${records}\n`));
  const config = () => readFileSync(file, "utf8");
  return { folder, config, run: (...argv: readonly string[]) => runCommand([...argv, "-q", "--no-color"], folder, { ...gitEnv }) };
}

it("creates the store that dimsync.yaml names, and adds its id", async () => {
  const { config, run } = projectWith("{ git: { ref: refs/heads/records } } # ours");
  for (const argv of [["plan"], ["records", "show"]]) {
    const { code, stderr } = await run(...argv);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^dimsync\.yaml:7:14 +E_RECORDS_NOT_CREATED/u)]);
    expect(stderr).toContain("  dimsync records init -t demo");
  }
  expect(await run("records", "init", "--to", "postgres")).toMatchObject({ code: 1, stderr: expect.stringContaining("takes no --to") });
  expect(await run("records", "init")).toMatchObject({ code: 0 });
  expect(config()).toMatch(/records: \{ git: \{ ref: refs\/heads\/records, id: "?[0-9a-f]{32}"? \} \} # ours/u);
  expect(await run("records", "show")).toMatchObject({ code: 0, stdout: expect.stringContaining("refs/heads/records of origin") });
  const again = await run("records", "init");
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("E_RECORDS_EXIST") });
});

it("creates and moves the records of all targets, and skips those that are there", async () => {
  const { config, run, folder } = projectWith("{}");
  const copies = ["demo", "second"].map(
    (name) => `  ${name}:\n    baseUrl: embedded:.dimsync/${name}.json\n    vars: { frequency: '60' }\n`,
  );
  writeFileSync(join(folder, "dimsync.yaml"), config().replace(/ {2}demo:\n(?: {4}.*\n)+/u, copies.join("")));
  const stores = () => [...config().matchAll(/ref: (refs\/dimsync\/\w+)/gu)].map(([, ref]) => ref);
  const records = async (...argv: readonly string[]) => {
    const { code, stderr } = await run("records", ...argv);
    return [code, stderr];
  };
  expect(await records("init", "-t", "second")).toEqual([0, expect.any(String)]);
  expect(await records("init", "--all-targets", "--to", "git:refs/dimsync/all")).toEqual([
    1,
    expect.stringContaining("the ref of 2 targets"),
  ]);
  expect(await records("init", "--all-targets")).toEqual([0, expect.stringContaining("The target second has its records there already.")]);
  expect(stores().sort()).toEqual(["refs/dimsync/demo", "refs/dimsync/second"]);
  expect(await records("migrate", "--to", "folder", "--all-targets")).toEqual([0, expect.any(String)]);
  expect(stores()).toEqual([]);
});

it.each([
  ["a URL that is not a secret", '{ postgres: { url: "postgres://u:hunter2@db.example.com/x", id: abc } }', "E_LITERAL_SECRET"],
  ["an unknown member", "{ git: { ref: refs/dimsync/demo, id: abc, branch: x } }", "E_UNKNOWN_KEY"],
])("refuses records with %s, and uses no files in their place", async (_, records, code) => {
  const { run } = projectWith(records);
  for (const argv of [["plan"], ["apply", "--yes"], ["records", "show"], ["records", "init"], ["bind", "Asset/lake=d-1"]]) {
    const { code: exit, stdout, stderr } = await run(...argv);
    expect([argv.join(" "), exit, `${stdout}${stderr}`]).toEqual([argv.join(" "), 1, expect.stringContaining(code)]);
    expect(`${stdout}${stderr}`).not.toContain("hunter2");
  }
});

it("moves records between all stores and back, and each store continues the account", needs("postgresql"), async () => {
  const remote = gitRemote();
  const folder = remote.clone();
  for (const name of ["manifests", "dimsync.yaml"]) cpSync(join(example, name), join(folder, name), { recursive: true });
  const file = join(folder, "dimsync.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("embedded:.dimsync", `embedded:${join(folder, "..")}`));
  const secrets = {
    LAKE_SECRET_KEY: "canary-lake",
    RETURNS_DB_PASSWORD: "canary-returns",
    DIMSYNC_DATABASE_URL: await postgres.database(),
    DIMSYNC_ALLOW_PATH: join(folder, ".."),
  };
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q", "--no-color"], folder, { ...gitEnv, ...secrets });

  const applied = await run("apply", "--yes");
  expect(applied.code, applied.stderr).toBe(0);
  const bundle = (await run("records", "export")).stdout;
  expect(bundle).toContain("Integration/returns");
  // Each ordered pair of the three stores, and from one ref to another one.
  for (const store of ["git", "folder", "postgres", "git:refs/dimsync/second", "git:refs/dimsync/third", "postgres", "folder"]) {
    const moved = await run("records", "migrate", "--to", store);
    expect(moved.code, `${store}: ${moved.stderr}`).toBe(0);
    expect((await run("records", "export")).stdout, store).toBe(bundle);
    const again = await run("apply", "--yes");
    expect(again.code, `${store}: ${again.stdout}${again.stderr}`).toBe(0);
    expect(again.stdout, store).not.toContain("created");
  }
});
