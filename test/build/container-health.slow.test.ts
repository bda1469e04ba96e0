// A container is healthy exactly if its process does its work.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeProject } from "../support/project-folder.ts";

// The check runs beside a server that responds as the controller does.

let ready = 200;
let port = 0;
const server = createServer((request, response) => response.writeHead(request.url === "/healthz" ? ready : 404).end());
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as { readonly port: number }).port;
});
afterAll(() => server.close());

/** The exit code of the check in a container whose first process has these arguments. */
async function check(...args: readonly string[]): Promise<unknown> {
  const file = join(writeProject({ cmdline: `${args.join("\0")}\0` }), "cmdline");
  const [code] = (await once(spawn(process.execPath, ["build/container-health.cjs", file], { stdio: "ignore" }), "exit")) as unknown[];
  return code;
}

const run = ["node", "/opt/dimsync/bin/dimsync", "controller"];

test("a controller is healthy if it responds, wherever it listens", async () => {
  ready = 200;
  expect(await check(...run, "--listen", `127.0.0.1:${port}`)).toBe(0);
  expect(await check("/sbin/docker-init", "--", "dimsync", "controller", `--listen=0.0.0.0:${port}`)).toBe(0);
});

test("a controller that does not respond as it should is unhealthy", async () => {
  ready = 503;
  expect(await check(...run, "--listen", `0.0.0.0:${port}`)).toBe(1);
  expect(await check(...run, "--listen", "127.0.0.1:1")).toBe(1);
});

test("other commands are healthy as long as they run", async () => {
  expect(await check("node", "/opt/dimsync/bin/dimsync", "plan")).toBe(0);
});
