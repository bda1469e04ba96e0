// A signal ends every command soon, and a second one at once.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seedAccount } from "../../src/embedded/data/seed.ts";
import { serve } from "../support/loopback.ts";
import { sampleOf } from "../support/sample.ts";
import { builtCli, dimsync, dimsyncHere, emptyFolder, ended, quickstart, quickstartSecrets, startCli } from "./built-cli.ts";

const reading = [
  "plan",
  "plan -o json",
  "drift",
  "ci plan",
  "ci drift",
  "doctor",
  "get integrations",
  "audit",
  "explain SchemaConfig/orders public",
  "register",
];

const sampled = (commands: readonly string[]): readonly string[] =>
  sampleOf(commands, { name: "interrupted", kindOf: () => "command", most: () => 4 });

/** How a command ends that gets a signal while it waits for the first response of the service, which never comes. */
async function whileWaiting(command: string) {
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const cwd = quickstart();
  writeFileSync(join(cwd, "manifests", "labels.yaml"), labels);
  const child = startCli(command.split(" "), { cwd, env: { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" } });
  const run = await ended(child);
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
  return run;
}

const labels = `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { labels: [{ label: contact, match: { column: "*email*" } }] }
`;

// The system ends them, so they need not hear the signal.
test.each(sampled(reading))("dimsync %s ends at once on a signal, and prints no partial output", async (command) => {
  expect(await whileWaiting(command)).toEqual({ code: null, signal: "SIGINT", stdout: "", stderr: "" });
});

test.each(["import --dry-run"])("dimsync %s, which writes files, ends with 130 on a signal", async (command) => {
  expect(await whileWaiting(command)).toEqual({ code: 130, signal: null, stdout: "", stderr: "\ndimsync: interrupted.\n" });
});

test.each(["apply --yes", "ci apply"])("dimsync %s ends at once on a signal while it plans, and holds nothing", async (command) => {
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const env = { ...quickstartSecrets, DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" };
  const cwd = quickstart();
  const child = startCli(command.split(" "), { cwd, env });
  expect({ ...(await ended(child)), signal: child.signalCode }).toMatchObject({ code: null, signal: "SIGINT", stdout: "" });
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
  // The next run needs no `records unlock`.
  expect((await dimsyncHere(["apply", "--yes"], { cwd, env: quickstartSecrets })).code).toBe(0);
});

/** The environment of a run that gets a SIGINT in the middle of synchronous work (signal-at.mjs). */
const signalAt = (when: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL(`signal-at.mjs?${new URLSearchParams(when)}`, import.meta.url).href}`,
});

/** How a command line ended that got a signal at such a moment. */
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
  const loading = ["plan", "apply --yes", "drift", "validate", "import", "records show"];
  test.each(sampled(loading))("dimsync %s ends at once if the signal arrives while it reads manifests", async (command) => {
    const cwd = emptyFolder(twoTargets);
    const run = await dimsync([...command.split(" "), "-t", "a"], { cwd, env: signalAt({ read: "m.yaml" }) });
    expect(run).toEqual({ code: null, signal: "SIGINT", stdout: "", stderr: "" });
    expect(readdirSync(cwd).sort()).toEqual(["dimsync.yaml", "m.yaml"]);
  });

  test.each(["plan", "drift", "doctor"])("dimsync %s ends at once if the signal arrives while it works on a response", async (command) => {
    const cwd = emptyFolder({ ...twoTargets, "a.json": JSON.stringify(seedAccount()) });
    const run = await dimsync([command, "-t", "a"], { cwd, env: signalAt({ read: "a.json", blocked: "60000" }) });
    expect(run).toEqual({ code: null, signal: "SIGINT", stdout: "", stderr: "" });
  });

  describe.skipIf(!hasNamespaces)(`in a container${hasNamespaces ? "" : " (skipped: unshare is not permitted)"}`, () => {
    // import needs a folder for new files.
    const files = {
      ...{ "dimsync.yaml": twoTargets["dimsync.yaml"].replace("[m.yaml]", "[m.yaml, manifests]"), "m.yaml": tag },
      ...{ "manifests/.keep": "", "a.json": JSON.stringify(seedAccount()) },
    };

    /** Process 1 gets the signal. */
    const asProcessOne = (argv: readonly string[], when: Readonly<Record<string, string>>) => {
      const env = { PATH: process.env["PATH"] ?? "", ...signalAt({ ...when, to: "parent" }) };
      return ended(spawn("unshare", [...asFirst, process.execPath, builtCli, ...argv], { cwd: emptyFolder(files), env }));
    };

    test("process 1 ends at once while it reads manifests", async () => {
      expect(await asProcessOne(["plan", "-t", "a"], { read: "m.yaml", blocked: "60000" })).toMatchObject({
        code: 130,
        stdout: "",
        stderr: "",
      });
    });

    test("process 1 ends after a second of synchronous work, also in a run that finishes its writes", async () => {
      expect(await asProcessOne(["import", "--dry-run", "-t", "a"], { read: "a.json", blocked: "60000" })).toMatchObject({
        ...{ code: 130, stdout: "" },
        stderr: "\ndimsync: stopped at once by SIGINT, in the middle of work.\n",
      });
    });

    test("process 1 ends as the program does that heard the signal", async () => {
      const run = await asProcessOne(["import", "--dry-run", "-t", "a"], { read: "a.json", blocked: "1" });
      expect(run).toMatchObject({ code: 130, stdout: "", stderr: "\ndimsync: interrupted.\n" });
    });
  });

  test("a second one ends the process at once", async () => {
    const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
    const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key", ...signalAt({ printed: "interrupted" }) };
    const child = startCli(["import"], { cwd: quickstart(), env });
    expect(await ended(child)).toEqual({ code: null, signal: "SIGINT", stdout: "", stderr: "\ndimsync: interrupted.\n" });
  });

  test("ci apply: the reports of both targets are kept, and no temporary files", async () => {
    const cwd = emptyFolder(twoTargets);
    const temp = join(cwd, "temp");
    mkdirSync(temp);
    const env = { RUNNER_TEMP: temp, ...signalAt({ read: "b.json" }) };
    const args = ["ci", "apply", "-t", "a", "-t", "b", "-o", "json=results.json"];
    const { code, signal, stderr } = await dimsync(args, { cwd, env });
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    expect(stderr).toContain("\ndimsync: interrupted.\n");
    expect(JSON.parse(readFileSync(join(cwd, "results.json"), "utf8"))).toMatchObject([
      { kind: "Result", target: "a", exit: { code: 0 } },
      { kind: "Result", target: "b", exit: { code: 130 } },
    ]);
    expect(readdirSync(temp)).toEqual([]);
  });
});
