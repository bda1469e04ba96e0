// Leaving the Terraform provider, as docs/terraform.md says: nothing in the account changes until the apply, and nothing is left behind.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AccountState, seedAccount } from "../../../src/embedded/index.ts";
import { builtCli, emptyFolder, startCli } from "../../cli/built-cli.ts";
import { canary, terraformState } from "./terraform-state.ts";

/** Twelve integrations with a source each, and two other assets. */
function accountOfTwelve(): AccountState {
  const account = seedAccount(true);
  account.integrations = account.integrations.filter(({ kind }) => kind !== "reverse");
  account.assets = account.assets.filter(({ name }) => name !== "CRM");
  const shard = account.integrations.find(({ name }) => name === "shop-shard-01");
  const source = account.assets.find(({ id }) => id === shard?.source.id);
  if (shard === undefined || source === undefined) throw new Error("The seed has no shards.");
  for (let n = 3; n < 10; n++) {
    const id = `6600000000000000000000${10 + n}`;
    const name = `shop-shard-0${n}`;
    account.integrations.push({
      ...structuredClone(shard),
      id,
      name,
      source: { id: `77${id.slice(2)}`, name: `${name}-pg`, type: "postgres" },
    });
    account.assets.push({ ...structuredClone(source), id: `77${id.slice(2)}`, name: `${name}-pg` });
  }
  return account;
}

/** `dimsync serve --observed` with this account, and a project for it. */
async function serve(account: AccountState, target: object) {
  const folder = emptyFolder();
  const file = join(folder, "account.json");
  writeFileSync(file, JSON.stringify(account));
  const child = startCli(["serve", "--observed", "--data", file], { env: { DIMSYNC_API_KEY: "key-of-the-walk" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout ?? child, "data");
  const baseUrl = /^DIMSYNC_BASE_URL=(.+)$/mu.exec(String(line))?.[1] ?? "";
  const prod = { baseUrl, apiKey: { $secret: { env: "DIMSYNC_API_KEY" } }, ...target };
  writeFileSync(
    join(folder, "dimsync.yaml"),
    JSON.stringify({ apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: { prod } }),
  );
  const run = (args: readonly string[], input = "") => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [builtCli, ...args], {
      cwd: folder,
      encoding: "utf8",
      input,
      env: { PATH: process.env["PATH"] ?? "", DIMSYNC_API_KEY: "key-of-the-walk" },
    });
    expect(stdout + stderr).not.toContain(canary);
    return { status, stdout, stderr };
  };
  const live = () => {
    const { auditLogs: _, sequence: __, ...rest } = JSON.parse(readFileSync(file, "utf8")) as AccountState;
    return rest;
  };
  return { folder, run, live };
}

test.each([{}, { service: { extended: true } }])("a team with a state of 50 resources leaves Terraform (%j)", async (target) => {
  const account = accountOfTwelve();
  const state = terraformState(account, ({ name, schemas }) => {
    const wanted = structuredClone(schemas);
    const { contact_email } = wanted["public"]?.tables["orders"]?.columns ?? {};
    if (name === "shop-shard-07" && contact_email !== undefined) contact_email.hashed = true;
    return wanted;
  });
  const managed = (JSON.parse(state).resources as readonly { module?: string; type: string; name: string; provider: string }[]).filter(
    ({ provider }) => provider.includes("/example/"),
  );
  expect(managed).toHaveLength(50);
  const { folder, run, live } = await serve(account, target);
  const before = live();

  const imported = run(["import", "--terraform-state", "-"], state);
  expect([imported.status, imported.stdout]).toEqual([
    0,
    expect.stringContaining("Schemas/shop-shard-07 public.orders.contact_email is hashed in the state"),
  ]);
  const plan = run(["plan", "--detailed-exitcode"]);
  expect([plan.status, plan.stdout]).toEqual([2, expect.stringContaining("Apply sends 1 PATCH")]);
  expect(live()).toEqual(before);

  // What Terraform would plan: it forgets each resource of the provider, and keeps the others.
  const removed = [
    ...readFileSync(join(folder, "dimsync-removed.tf"), "utf8").matchAll(
      /^removed \{\n {2}from = (\S+)\n\n {2}lifecycle \{\n {4}destroy = false\n {2}\}\n\}$/gmu,
    ),
  ];
  const addresses = managed.map(({ module: path, type, name }) =>
    [...(path === undefined ? [] : [path.replace(/\[.*\]/u, "")]), type, name].join("."),
  );
  expect(removed.map(([, address]) => address)).toEqual([...new Set(addresses)].sort());

  expect(run(["apply", "--yes"]).status).toBe(0);
  const hashed = before.integrations.find(({ name }) => name === "shop-shard-07")?.schemas["public"]?.tables["orders"]?.columns[
    "contact_email"
  ];
  if (hashed !== undefined) hashed.hashed = true;
  expect(live()).toEqual(before);
  expect(run(["plan", "--detailed-exitcode"]).status).toBe(0);
  expect(run(["drift"]).status).toBe(0);
  expect(existsSync(join(folder, "manifests/integrations/shop-shard-07.yaml"))).toBe(true);
});
