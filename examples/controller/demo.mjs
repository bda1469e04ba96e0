// Runs the controller with its embedded database and three embedded accounts. Dana turns off hashing in one of them; the controller notices,
// repairs it, and its page has who it was. It takes two minutes, because checks are at least a minute apart. `npm run demo:controller`.
// --short: one account. --keep: the page stays until Ctrl-C.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary-folder.mjs";

const dimsync = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const quickstart = fileURLToPath(new URL("../quickstart/", import.meta.url));
const names = process.argv.includes("--short") ? ["oslo"] : ["berlin", "london", "oslo"];
const env = {
  LAKE_SECRET_KEY: "a-secret",
  RETURNS_DB_PASSWORD: "another-secret",
  NO_COLOR: "1",
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DIMSYNC_"))),
};
let folder;
let controller;

try {
  folder = temporaryFolder("dimsync-controller-demo-");
  cpSync(join(quickstart, "manifests"), join(folder, "manifests"), { recursive: true });
  writeFileSync(join(folder, "dimsync.yaml"), config());
  for (const name of names) run(["apply", "--yes", "--quiet", "-t", name], [0, 4], "ignore");
  say(`The manifests were applied to ${names.join(", ")}. The controller starts, with an embedded database:`);
  controller = spawn(process.execPath, [dimsync, "controller", "--listen", "127.0.0.1:0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  controller.stderr.on("data", (chunk) => {
    log += chunk;
    process.stderr.write(chunk);
  });
  await until(() => /Page: (\S+)/u.test(log));
  const [, url] = /Page: (\S+)/u.exec(log) ?? [];
  await until(async () => (await accounts(url)).filter(({ checkedAt }) => checkedAt !== null).length === names.length);
  for (const { target, exposed, differences, mode } of await accounts(url))
    process.stdout.write(`  ${target}: ${exposed} exposed, ${differences} different (mode ${mode})\n`);
  say("Dana turns off hashing of customers.email in oslo, without dimsync. The next check finds it, and mode protect repairs it:");
  await unhash("oslo");
  await until(async () => (await account(url, "oslo")).repairs.some(({ doneAt }) => doneAt !== undefined));
  const { repairs } = await account(url, "oslo");
  for (const { path, event, doneAt } of repairs) process.stdout.write(`  ${path}: ${event}; repaired ${doneAt}\n`);
  if (process.argv.includes("--keep")) {
    say(`The page is ${url}. Press Ctrl-C to stop.`);
    await new Promise((resolve) => process.once("SIGINT", resolve));
  }
} catch (error) {
  process.stderr.write(`\ndemo: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  if (controller !== undefined) {
    const ended = new Promise((resolve) => controller.once("exit", resolve));
    controller.kill("SIGTERM");
    await ended;
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function config() {
  const targets = names.map(
    (name) => `  ${name}:
    baseUrl: embedded:.dimsync/${name}.json
    vars: { frequency: '60' }
    controller: { every: 1m, mode: ${name === "oslo" ? "protect" : "report"}, labels: { region: europe } }`,
  );
  return `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
${targets.join("\n")}
defaults: { taggedBy: data-platform@example.com }
`;
}

/** Dana changes the account of a target through its service. */
async function unhash(target) {
  const args = ["serve", "--data", join(folder, ".dimsync", `${target}.json`), "--person", "dana@example.com"];
  const service = spawn(process.execPath, [dimsync, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  service.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await until(() => /dana@example\.com: (\S+)/u.test(printed));
  const [, url = ""] = /DIMSYNC_BASE_URL=(\S+)/u.exec(printed) ?? [];
  const [, key = ""] = /dana@example\.com: (\S+)/u.exec(printed) ?? [];
  const response = await fetch(`${url}/v1/integrations/8f1c/schemas`, {
    method: "PATCH",
    headers: { "x-api-key": key, "content-type": "application/json", "user-agent": "Mozilla/5.0" },
    body: JSON.stringify({ schemas: { public: { tables: { customers: { columns: { email: { hashed: false } } } } } } }),
  });
  if (!response.ok) throw new Error(`the service refused the change with status ${response.status}`);
  const ended = new Promise((resolve) => service.once("exit", resolve));
  service.kill("SIGTERM");
  await ended;
}

/** From the API of the page. */
async function get(url, path) {
  return await (await fetch(new URL(path, url))).json();
}

async function accounts(url) {
  return (await get(url, "/api/accounts")).accounts;
}

async function account(url, name) {
  return await get(url, `/api/accounts/${name}`);
}

function run(args, expected, output = "inherit") {
  if (output === "inherit") process.stdout.write(`\n$ dimsync ${args.join(" ")}\n`);
  const { status: code } = spawnSync(process.execPath, [dimsync, ...args], { cwd: folder, env, stdio: ["ignore", output, output] });
  if (!expected.includes(code)) throw new Error(`dimsync ${args.join(" ")} ended with ${code}`);
}

async function until(condition) {
  for (let tries = 0; !(await condition()); tries += 1) {
    if (tries > 600) throw new Error("it took too long");
    await sleep(200);
  }
}

function say(text) {
  process.stdout.write(`\n${text}\n`);
}
