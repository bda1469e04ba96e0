// Whatever a file or a response contains, memory and time are bounded.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { seedAccount } from "../../src/embedded/data/seed.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { openStore } from "../../src/features/controller/database.ts";
import { servePage } from "../../src/features/controller/server.ts";
import { dimsync, dimsyncHere, emptyFolder, startCli } from "../cli/built-cli.ts";
import { serve } from "../support/loopback.ts";
import { waiting } from "../support/waiting.ts";

/*
 * Every input has a bound, with a clear error and its place. A repository and a service are data of
 * unknown authors.
 */

describe("nesting is bounded while a file is read", () => {
  const brackets = "[".repeat(5_000);
  test.each([
    ["flow lists in a manifest", { "m.yaml": `a: ${brackets}\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["flow maps in a manifest", { "m.yaml": `a: ${"{a: ".repeat(1_000)}\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["blocks in a manifest", { "m.yaml": `a:\n  ${"- ".repeat(5_000)}b\n` }, ["validate", "m.yaml"], "m.yaml:2:"],
    ["keys in a manifest", { "m.yaml": `${"? ".repeat(5_000)}b\n` }, ["validate", "m.yaml"], "m.yaml:1:"],
    ["dimsync.yaml", { "dimsync.yaml": `a: ${brackets}\n` }, ["validate"], "dimsync.yaml:1:"],
    ["bindings", { "dimsync.yaml": config(), "dimsync.bindings.yaml": `a: ${brackets}\n` }, ["plan"], "dimsync.bindings.yaml:1:"],
    [
      "variables in JSON",
      { "v.json": `{"a": ${brackets}`, "m.yaml": "a: 1\n" },
      ["validate", "m.yaml", "--var-file", "v.json"],
      "v.json:1:",
    ],
  ])("%s", async (_name, files, args, place) => {
    const { code, stdout, stderr } = await dimsyncHere(args, { cwd: emptyFolder(files), env: { DIMSYNC_API_KEY: "k" } });
    expect(stdout + stderr).toContain(place);
    expect(stdout + stderr).toMatch(/E_YAML_SYNTAX|nested more than 200 levels/u);
    expect(code).toBe(1);
  });
});

describe("nesting is counted before JSON is used", () => {
  const deep = `{"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const classification = `apiVersion: dimsync/v1
kind: Classification
metadata: { name: dbt }
spec: { from: [{ dbt: { manifest: deep.json, labelFrom: meta.label } }] }
`;
  const labels = classification.replace(/spec: .*/u, "spec: { labels: [{ label: pii, match: { column: email }, reason: test }] }");
  test.each<[string, readonly string[], string, number?]>([
    ["a saved plan", ["apply", "deep.json"], "E_PLAN_FILE", 5],
    ["a plan to show", ["show", "deep.json"], "E_PLAN_FILE", 5],
    ["exported records", ["records", "restore", "deep.json"], "E_RECORDS_BUNDLE"],
    ["a dbt manifest", ["validate"], "E_DBT_MANIFEST"],
  ])("of %s", async (_name, args, expected, exit = 1) => {
    const service = await startEmbeddedService({ apiKeys: { key: "bot@example.com" } });
    onTestFinished(() => service.close());
    const read = args[0] === "validate" ? { "manifests/m.yaml": classification } : { "manifests/m.yaml": labels };
    const files = { "dimsync.yaml": config({ baseUrl: service.url, more: "manifests: [manifests]\n" }), ...read, "deep.json": deep };
    const { code, stdout, stderr } = await dimsyncHere([...args], { cwd: emptyFolder(files), env: { DIMSYNC_API_KEY: "key" } });
    expect((stdout + stderr).replaceAll(/\s+/gu, " ")).toContain("nested more than 200 levels");
    expect([code, stdout + stderr]).toEqual([exit, expect.stringContaining(expected)]);
  });

  test("of a response", async () => {
    const { url: baseUrl } = await serve((_, response) => response.end(`{"data": [{"id": "t1", "name": ${deep}}]}`));
    const { code, stdout, stderr } = await dimsyncHere(["get", "tags"], {
      cwd: emptyFolder({ "dimsync.yaml": config({ baseUrl }) }),
      env: { DIMSYNC_API_KEY: "key" },
    });
    const text = (stdout + stderr).replaceAll(/\s+/gu, " ");
    expect([code, text]).toEqual([1, expect.stringMatching(/E_MALFORMED_ANSWER.*nested more than 200 levels/u)]);
  });
});

test("attack 12: an import of long names measures only their beginning", async () => {
  const account = seedAccount();
  const [tag] = account.tags;
  if (tag === undefined) throw new Error("the account has no tag");
  account.tags = Array.from({ length: 500 }, (_, index) => ({ ...tag, id: `t${index}`, name: `${index} ${"é😀".repeat(1_700)}` }));
  const service = await startEmbeddedService({ state: account, apiKeys: { key: "bot@example.com" } });
  onTestFinished(() => service.close());
  const { code, stdout } = await dimsync(["import", "--dry-run"], {
    cwd: emptyFolder({ "dimsync.yaml": config({ baseUrl: service.url }) }),
    env: { DIMSYNC_API_KEY: "key" },
  });
  expect(stdout).toMatch(/would create +tags\.yaml/u);
  expect(code).toBe(0);
});

test("attack 14: thousands of duplicate keys after many others are a hundred problems", async () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `  k${index}: 1\n`);
  const text = `a:\n${keys.join("")}${keys.slice(0, 3_000).join("")}`;
  const { code, stdout } = await dimsyncHere(["validate", "m.yaml"], { cwd: emptyFolder({ "m.yaml": text }) });
  expect(stdout.match(/E_DUPLICATE_KEY/gu)).toHaveLength(100);
  expect(stdout.replaceAll(/\s+/gu, " ")).toContain("m.yaml has 2900 more problems.");
  expect(code).toBe(1);
});

describe("attack 16: a response that does not end", () => {
  /** A service that sends up to 1 GiB, and counts what left. */
  async function endless(): Promise<{ readonly url: string; readonly sent: () => number }> {
    const chunk = Buffer.alloc(2 ** 20, " ");
    let sent = 0;
    const write = (response: ServerResponse): void => {
      while (!response.destroyed && sent < 2 ** 30) {
        sent += chunk.length;
        if (!response.write(chunk)) {
          response.once("drain", () => write(response));
          return;
        }
      }
      response.end();
    };
    const { url } = await serve((_, response) => write(response.writeHead(200, { "content-type": "application/json" })));
    return { url, sent: () => sent };
  }

  test("is given up at 64 MiB, with the request and the setting", async () => {
    const service = await endless();
    const { code, stderr, stdout } = await dimsync(["get", "tags"], {
      cwd: emptyFolder({ "dimsync.yaml": config({ baseUrl: service.url }) }),
      env: { DIMSYNC_API_KEY: "key" },
    });
    expect(code).not.toBe(0);
    expect((stdout + stderr).replaceAll(/\s+/gu, " ")).toMatch(/GET \/v1\/tags.*larger than 67108864 bytes/u);
    expect(service.sent()).toBeLessThan(100 * 2 ** 20);
  });
});

/** How the process ends, or "late" if it first uses five more seconds of processor time, as on a machine that does nothing else. */
async function endedOrLate<T>(child: ChildProcess, end: Promise<T>): Promise<T | "late"> {
  const most = ticksOf(child.pid) + 500;
  while (child.exitCode === null && child.signalCode === null) {
    if (ticksOf(child.pid) > most) return "late";
    await sleep(50);
  }
  return end;
}

test("a stop signal ends a command at once while it reads a manifest of 30 MB", async () => {
  const columns = (table: number) =>
    Array.from(
      { length: 100 },
      (_, column) => `            ? 'c${column}'\n            : { hashed: &a${table}_${column} true, enabled: true }\n`,
    );
  const tables = Array.from({ length: 4_000 }, (_, table) => `        "t\\u0041${table}":\n          columns:\n${columns(table).join("")}`);
  const head =
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: x }\nspec:\n  integration: Orders\n  schemas:\n    public:\n      tables:\n";
  const cwd = emptyFolder({
    "dimsync.yaml": config({ more: "manifests: [manifests]\n" }),
    "manifests/m.yaml": `${head}${tables.join("")}`,
  });
  for (const argv of [["validate"], ["apply", "--yes"]]) {
    const child = startCli(argv, { cwd, env: { DIMSYNC_API_KEY: "key" } });
    onTestFinished(() => void child.kill("SIGKILL"));
    // It has started when it has used a second of CPU.
    await vi.waitFor(() => expect(ticksOf(child.pid)).toBeGreaterThan(100), waiting);
    const closed = once(child, "close");
    child.kill("SIGTERM");
    expect(await endedOrLate(child, closed)).toEqual([null, "SIGTERM"]);
  }
});

/** The CPU time of a process, in hundredths of a second. */
function ticksOf(pid = 0): number {
  const [, , , , , , , , , , , user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /u, "")
    .split(" ")
    .map(Number);
  return user + system;
}

test("attack 18: half-open connections do not delay /healthz", async () => {
  const database = await openStore("", emptyFolder());
  onTestFinished(() => database.close());
  const page = await servePage(database, { listen: "127.0.0.1:0", token: "" });
  onTestFinished(() => page.close());
  const sockets = Array.from({ length: 520 }, () => connect(Number(new URL(page.url).port), "127.0.0.1").on("error", () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    if (socket.connecting) await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n");
  }
  const response = await fetch(`${page.url}/healthz`, { signal: AbortSignal.timeout(8_000) });
  expect(response.status).toBe(200);
});

function config({ baseUrl = "http://127.0.0.1:9", more = "" } = {}): string {
  return `apiVersion: dimsync/v1\nkind: Config\ntargets: { default: { baseUrl: "${baseUrl}" } }\n${more}`;
}
