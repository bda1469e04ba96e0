import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seedAccount } from "../../src/embedded/data/seed.ts";
import { serve } from "../service/loopback.ts";
import { builtCli, emptyFolder, ended, quickstart, quickstartSecrets, startCli } from "./built-cli.ts";

const commands = [
  "plan",
  "plan -o json",
  "drift",
  "import --dry-run",
  "doctor",
  "get integrations",
  "audit",
  "snapshot --out s.json",
  "render --expand",
  "explain SchemaConfig/orders public",
];

test.each(commands)("dimsync %s, interrupted while the service is slow, ends with 130 and prints no partial output", async (command) => {
  // It never responds; the signal is sent after the first request.
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const child = startCli(command.split(" "), { cwd: quickstart(), env: { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" } });
  const { code, stdout, stderr } = await ended(child);
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toBe("\ndimsync: interrupted.\n");
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

test("dimsync apply, interrupted before anything was sent, says so in its result", async () => {
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const env = { ...quickstartSecrets, DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" };
  const child = startCli(["apply", "--yes", "-o", "json"], { cwd: quickstart(), env });
  const { code, stdout, stderr } = await ended(child);
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ kind: "Result", items: [], exit: { code: 130 } });
  expect(stderr).toBe("\ndimsync: interrupted. No new requests are started; writes in flight finish. Interrupt again to stop at once.\n");
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

/** The environment of a run that gets a SIGINT in the middle of synchronous work (signal-at.mjs). */
const signalAt = (when: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL(`signal-at.mjs?${new URLSearchParams(when)}`, import.meta.url).href}`,
});

/** How a command line ended that got a signal at such a moment. */
async function signalled(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child = startCli(args, { cwd, env });
  return { ...(await ended(child)), signal: child.signalCode };
}

const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: Changed }\n";

/** Arguments of `unshare` that make a command process 1, as in a container. */
const asFirst = ["--user", "--map-root-user", "--pid", "--fork"];
const hasNamespaces = spawnSync("unshare", [...asFirst, "true"]).status === 0;

/** Two accounts in files. */
const twoTargets = {
  "dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [m.yaml]
targets: { a: { baseUrl: "embedded:a.json" }, b: { baseUrl: "embedded:b.json" } }
`,
  "m.yaml": tag,
};

describe("a signal during synchronous work", () => {
  const loading = ["plan", "apply --yes", "drift", "validate", "import", "fmt", "snapshot --out s.json", "records show"];
  test.each(loading)("dimsync %s ends at once if the signal arrives while it reads manifests", async (command) => {
    const cwd = emptyFolder(twoTargets);
    const run = await signalled([...command.split(" "), "-t", "a"], cwd, signalAt({ read: "m.yaml" }));
    expect(run).toEqual({ code: null, signal: "SIGINT", stdout: "", stderr: "" });
    expect(readdirSync(cwd).sort()).toEqual(["dimsync.yaml", "m.yaml"]);
  });

  describe.skipIf(!hasNamespaces)(`in a container${hasNamespaces ? "" : " (skipped: unshare is not permitted)"}`, () => {
    const files = { ...twoTargets, "a.json": JSON.stringify(seedAccount()) };

    /** Process 1 gets the signal. */
    const asProcessOne = (argv: readonly string[], when: Readonly<Record<string, string>>) => {
      const env = { PATH: process.env["PATH"] ?? "", ...signalAt({ ...when, to: "parent" }) };
      return ended(spawn("unshare", [...asFirst, process.execPath, builtCli, ...argv], { cwd: emptyFolder(files), env }));
    };

    test("process 1 ends at once while it reads manifests", async () => {
      expect(await asProcessOne(["plan", "-t", "a"], { read: "m.yaml", blocked: "60000" })).toEqual({ code: 130, stdout: "", stderr: "" });
    });

    test("process 1 ends after a second of synchronous work, also in a run that finishes its writes", async () => {
      expect(await asProcessOne(["apply", "--yes", "-t", "a"], { read: "a.json", blocked: "60000" })).toEqual({
        ...{ code: 130, stdout: "" },
        stderr: "\ndimsync: stopped at once by SIGINT, in the middle of work.\n",
      });
    });

    test("process 1 ends as the program does that heard the signal", async () => {
      const run = await asProcessOne(["plan", "-t", "a"], { read: "a.json", blocked: "1" });
      expect(run).toEqual({ code: 130, stdout: "", stderr: "\ndimsync: interrupted.\n" });
    });
  });

  test("a second one ends the process at once", async () => {
    const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
    const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key", ...signalAt({ printed: "interrupted" }) };
    const child = startCli(["plan"], { cwd: quickstart(), env });
    expect(await ended(child)).toEqual({ code: null, stdout: "", stderr: "\ndimsync: interrupted.\n" });
    expect(child.signalCode).toBe("SIGINT");
  });

  test("ci apply: the reports of both targets are kept, and no temporary files", async () => {
    const cwd = emptyFolder(twoTargets);
    const temp = join(cwd, "temp");
    mkdirSync(temp);
    const env = { RUNNER_TEMP: temp, ...signalAt({ read: "b.json" }) };
    const args = ["ci", "apply", "-t", "a", "-t", "b", "--bindings", "none", "-o", "json=results.json"];
    const { code, signal, stderr } = await signalled(args, cwd, env);
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    expect(stderr).toContain("\ndimsync: interrupted.\n");
    expect(JSON.parse(readFileSync(join(cwd, "results.json"), "utf8"))).toMatchObject([
      { kind: "Result", target: "a", exit: { code: 0 } },
      { kind: "Result", target: "b", exit: { code: 130 } },
    ]);
    expect(readdirSync(temp)).toEqual([]);
  });
});
