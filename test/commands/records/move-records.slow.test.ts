import { cpSync, readFileSync, writeFileSync } from "node:fs";
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

it("closes a store for good whose records were moved", { timeout: 60_000 }, async () => {
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
    for (const argv of [["plan"], ["apply", "--yes"], ["bind", "Asset/lake=d-99"], ["records", "unlock", "--force"]]) {
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

it("moves records between all stores and back, and each store continues the account", {
  timeout: 120_000,
  ...needs("postgresql"),
}, async () => {
  const remote = gitRemote();
  const folder = remote.clone();
  for (const name of ["manifests", "dimsync.yaml"]) cpSync(join(example, name), join(folder, name), { recursive: true });
  const file = join(folder, "dimsync.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("embedded:.dimsync", `embedded:${join(folder, "..")}`));
  const secrets = {
    LAKE_SECRET_KEY: "canary-lake",
    RETURNS_DB_PASSWORD: "canary-returns",
    DIMSYNC_DATABASE_URL: postgres.database(),
    DIMSYNC_ALLOW_PATH: join(folder, ".."),
  };
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q", "--no-color"], folder, { ...gitEnv, ...secrets });

  const applied = await run("apply", "--yes");
  expect(applied.code, applied.stderr).toBe(0);
  // Each ordered pair of the three stores, and from one ref to another one.
  for (const store of ["git", "folder", "postgres", "git:refs/dimsync/second", "git:refs/dimsync/third", "postgres", "folder"]) {
    const bundle = (await run("records", "export")).stdout;
    expect(bundle).toContain("Integration/returns");
    const moved = await run("records", "migrate", "--to", store);
    expect(moved.code, `${store}: ${moved.stderr}`).toBe(0);
    expect((await run("records", "export")).stdout, store).toBe(bundle);
    const again = await run("apply", "--yes");
    expect(again.code, `${store}: ${again.stdout}${again.stderr}`).toBe(0);
    expect(again.stdout, store).not.toContain("created");
  }
});
