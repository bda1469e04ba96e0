// Runs validate, plan and apply on a copy of this example and shows that the next plan is empty.
// Then someone changes the account; drift reports it, and plan and apply revert it. The account is
// `dimsync serve`, an HTTP service in its own process. Run it with `npm run demo`.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary-folder.mjs";

const dimsync = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const example = fileURLToPath(new URL(".", import.meta.url));
const isTty = process.stdout.isTTY === true && !process.env.NO_COLOR;
const paint = (codes, text) => (isTty ? `\u001b[${codes}m${text}\u001b[0m` : text);

let folder;
let service;
try {
  folder = temporaryFolder("dimsync-demo-");
  for (const name of ["dimsync.yaml", "manifests"]) cpSync(join(example, name), join(folder, name), { recursive: true });
  service = await startService();
  await demo();
  say("Done. The manifests are in examples/quickstart; README.md explains them.");
} catch (error) {
  process.stderr.write(`\ndemo: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  service?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

async function demo() {
  say("The account has four integrations. The manifests describe the desired state. First, check the manifests alone:");
  run(["validate"], 0);
  say("What would change? A plan writes nothing; exit 2 means that there are changes.");
  run(["plan", "--detailed-exitcode"], 2);
  say("Send exactly those requests. Items that wait for a new id follow in the same run.");
  run(["apply", "--yes"], 0);
  say("Plan again: the account matches the manifests.");
  run(["plan", "--detailed-exitcode"], 0);

  say("Now Dana (dana@example.com) turns off hashing for customers.email, without dimsync:");
  await unhash();
  say("The nightly drift report shows the change and who made it. Exit 3: it also violates a policy.");
  run(["drift"], 3);
  say("The plan that reverts it is one request:");
  run(["plan", "--detailed-exitcode"], 2);
  run(["apply", "--yes"], 0);
  run(["plan", "--detailed-exitcode"], 0);
}

/** Runs dimsync in the copy, with its output on this terminal. Throws if the exit code is not the expected one. */
function run(args, expected) {
  process.stdout.write(`\n${paint("1;36", `$ dimsync ${args.join(" ")}`)}\n`);
  const { status, error } = spawnSync(process.execPath, [dimsync, ...args], {
    cwd: folder,
    env: service.env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (error !== undefined) throw error;
  if (status !== expected) throw new Error(`dimsync ${args.join(" ")} ended with exit code ${status}, not ${expected}.`);
}

function say(text) {
  process.stdout.write(`\n${paint("1", `── ${text}`)}\n`);
}

/** Starts `dimsync serve` and waits until it prints its address. The key and all other secrets are random. */
async function startService() {
  const env = {
    // Environment variables for another project must not affect the demo.
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DIMSYNC_"))),
    DIMSYNC_API_KEY: randomBytes(16).toString("hex"),
    LAKE_SECRET_KEY: randomBytes(16).toString("hex"),
    RETURNS_DB_PASSWORD: randomBytes(16).toString("hex"),
  };
  const child = spawn(process.execPath, [dimsync, "serve", "--person", "dana@example.com"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let url;
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    url ??= /^DIMSYNC_BASE_URL=(.+)$/.exec(line)?.[1];
    const danasKey = /^# API key of dana@example\.com: (.+)$/.exec(line)?.[1];
    if (url !== undefined && danasKey !== undefined)
      return { url, danasKey, env: { ...env, DIMSYNC_BASE_URL: url }, stop: () => child.kill() };
  }
  throw new Error(`dimsync serve did not start: ${stderr}`);
}

async function unhash() {
  const { url, danasKey } = service;
  const body = {
    schemas: { public: { enabled: true, tables: { customers: { enabled: true, columns: { email: { enabled: true, hashed: false } } } } } },
  };
  process.stdout.write(`\n${paint("1;35", `PATCH /v1/integrations/8f1c/schemas ${JSON.stringify(body)}`)}\n`);
  const response = await fetch(`${url}/v1/integrations/8f1c/schemas`, {
    method: "PATCH",
    headers: { "x-api-key": danasKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The service refused Dana's change with status ${response.status}.`);
}
