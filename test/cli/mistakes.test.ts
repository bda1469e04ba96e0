import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { builtCli, dimsync, emptyFolder, quickstart } from "./built-cli.ts";

interface Row {
  readonly args: readonly string[];
  readonly says: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code?: number;
}

// Each ends with exit code 1, prints nothing to stdout, no stack trace, and says what is wrong and what to do. Run in a copy of the quick start.
const rows: Readonly<Record<string, Row>> = {
  "an unknown command gets the one that was meant": {
    args: ["plann"],
    says: ["E_USAGE", "'plann'", "Did you mean plan?", "dimsync --help"],
  },
  "an unknown command far from all others": { args: ["frobnicate"], says: ["Unknown command 'frobnicate'", "dimsync --help"] },
  "an unknown flag gets the one that was meant": {
    args: ["plan", "--detailed-exitcod"],
    says: ["Unknown option", "Did you mean --detailed-exitcode?", "dimsync plan --help"],
  },
  "an unknown flag of an alias": { args: ["diff", "--foo"], says: ["Unknown option '--foo'", "dimsync plan --help"] },
  "a flag without its value": { args: ["plan", "--out"], says: ["--out <file>", "argument missing", "dimsync plan --help"] },
  "a missing argument": { args: ["show"], says: ["Missing required argument 'file'", "dimsync show --help"] },
  "an argument too many": { args: ["version", "1"], says: ["Too many arguments"] },
  "help for an unknown command": { args: ["help", "aply"], says: ["Unknown command 'aply'", "Did you mean apply?"] },
  "a folder that isn't there": { args: ["-C", "nowhere", "plan"], says: ["--chdir", '"nowhere"', "no such folder"] },
  "a config file that isn't there": { args: ["--config", "nope.yaml", "plan"], says: ["nope.yaml", "does not exist"] },
  "an unknown target": { args: ["-t", "prod", "plan"], says: ["dimsync.yaml", "E_UNKNOWN_TARGET", '"prod"', "demo"] },
  "all targets and one": { args: ["--all-targets", "-t", "demo", "plan"], says: ["--all-targets and -t exclude each other"] },
  "a variable without a value": { args: ["--var", "frequency", "plan"], says: ["--var takes NAME=VALUE", '"frequency"'] },
  "--only that names nothing": { args: ["--only", "Tag/pi", "plan"], says: ['--only "Tag/pi"', "Did you mean Tag/pii?"] },
  "--exclude that names nothing": { args: ["--exclude", "Tga/*", "plan"], says: ['--exclude "Tga/*"', "matches no manifest"] },
  "an unknown format": { args: ["-o", "jsn", "plan"], says: ["E_OUTPUT", '"jsn"', "Did you mean json?"] },
  "an unknown format of get": { args: ["-o", "html", "get", "tags"], says: ["E_OUTPUT", "human, json, ndjson, yaml, markdown"] },
  "two documents for stdout": { args: ["-o", "json", "-o", "markdown", "plan"], says: ["stdout carries one document", "-o markdown=PATH"] },
  "an output file in a folder that isn't there": { args: ["-o", "json=no/x.json", "plan"], says: ['"no/x.json"', "there is no folder"] },
  "an output file that is a folder": { args: ["-o", "json=manifests", "plan"], says: ["that is a folder"] },
  "an output file without a name": { args: ["-o", "json=", "plan"], says: ["that is no file"] },
  "a plan file in a folder that isn't there": { args: ["plan", "--out", "no/p.json"], says: ["--out", "there is no folder"] },
  "no requests at a time": { args: ["--concurrency", "0", "plan"], says: ["--concurrency", "at least 1"] },
  "a negative number of retries": { args: ["--retries", "-1", "plan"], says: ["--retries", '"-1"'] },
  "a duration that is none": { args: ["--timeout", "soon", "plan"], says: ["--timeout", "30s, 5m, 2h, 1d"] },
  "an unknown reason to fail": { args: ["plan", "--fail-on", "exposed"], says: ["--fail-on", "Did you mean exposes?"] },
  "an unknown guard": { args: ["plan", "--allow", "maxCreate=x"], says: ["maxCreate", "Did you mean maxCreates?"] },
  "a guard lifted without a reason": { args: ["plan", "--allow", "policy"], says: ["reason"] },
  "apply without a terminal or --yes": { args: ["apply"], says: ["E_NOT_CONFIRMED", "--yes", "--out"] },
  "apply on a read-only run": { args: ["--read-only", "apply", "--yes"], says: ["E_READ_ONLY", "plan"] },
  "apply where the environment says read-only": {
    args: ["apply", "--yes"],
    env: { DIMSYNC_READ_ONLY: "1" },
    says: ["E_READ_ONLY", "DIMSYNC_READ_ONLY"],
  },
  "apply with secrets that aren't set": {
    args: ["apply", "--yes"],
    says: ["E_SECRET_MISSING", "LAKE_SECRET_KEY", "RETURNS_DB_PASSWORD"],
  },
  "a saved plan that isn't there": { args: ["apply", "plan.json"], says: ["E_PLAN_FILE", "plan.json"] },
  "an unknown kind to get": { args: ["get", "intgration"], says: ["Did you mean Integration?"] },
  "assets, which can't be read": { args: ["get", "assets"], says: ["no call that reads assets", "dimsync get integrations"] },
  "schemas without an integration": { args: ["get", "schemaconfigs"], says: ["no list of schemas", "dimsync get SchemaConfig ID"] },
  "a live object that isn't there": { args: ["get", "tag", "t-99"], says: ["E_NOT_FOUND", '"t-99"', "dimsync get tags"] },
  "one user as it comes": { args: ["get", "user", "u-1", "--raw"], says: ["no call for one user"] },
  "an unknown manifest to render": { args: ["render", "Tag/pi"], says: ["E_UNKNOWN_ADDRESS", "Did you mean Tag/pii?"] },
  "an unknown schema": { args: ["schema", "plans2"], says: ["There is no schema", "Known: "] },
  "an unknown shell": { args: ["completion", "tcsh"], says: ["bash, zsh, fish"] },
  "a port that is none": { args: ["serve", "--port", "70000"], says: ["--port", "65535"] },
  "a fault that can't be read": { args: ["serve", "--faults", "POST"], says: ["--faults", "METHOD PATHREGEX"] },
  "an account file in a folder that isn't there": { args: ["serve", "--data", "no/a.json"], says: ["--data", "there is no folder"] },
  "a service that can't be reached": {
    args: ["--retries", "0", "get", "tags"],
    env: { DIMSYNC_BASE_URL: "http://127.0.0.1:9", DIMSYNC_API_KEY: "key" },
    says: ["E_SERVICE_UNREACHABLE", "GET /v1/tags", "baseUrl"],
  },
  "http to a service elsewhere": {
    args: ["get", "tags"],
    env: { DIMSYNC_BASE_URL: "http://service.example.com", DIMSYNC_API_KEY: "key" },
    says: ["http", "loopback"],
  },
  "a service without a key": { args: ["get", "tags"], env: { DIMSYNC_BASE_URL: "http://127.0.0.1:9" }, says: ["DIMSYNC_API_KEY"] },
};

describe("a mistake on the command line", () => {
  for (const [what, { args, says, env, code = 1 }] of Object.entries(rows))
    test(what, async () => {
      const result = await dimsync(args, { cwd: quickstart(), ...(env === undefined ? {} : { env }) });
      for (const words of says) expect(result.stderr).toContain(words);
      expect(result.stderr).not.toMatch(/^\s+at |E_INTERNAL/mu);
      expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: "" });
    });
});

describe("a folder without a project", () => {
  test("says what is missing to reach an account", async () => {
    const { code, stderr } = await dimsync(["plan"], { cwd: emptyFolder() });
    expect(stderr).toMatch(/E_NO_ACCOUNT.*DIMSYNC_BASE_URL.*dimsync\.yaml/u);
    expect(code).toBe(1);
  });

  test("is valid, with a warning that nothing was found", async () => {
    const { code, stdout } = await dimsync(["validate"], { cwd: emptyFolder() });
    expect(stdout).toContain("W_NO_MANIFESTS");
    expect(code).toBe(0);
  });
});

test("a working folder that is gone", () => {
  const folder = emptyFolder();
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", 'rmdir "$1" && exec "$2" "$3" plan', "sh", folder, process.execPath, builtCli],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  expect([status, stdout, stderr]).toEqual([
    1,
    "",
    "dimsync: E_USAGE: The working directory no longer exists. Change to an existing one.\n",
  ]);
});

describe("manifests with mistakes", () => {
  const broken = {
    "dimsync.yaml":
      "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:account.json' } }\n",
    "manifests/a.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: x\nspec: 1\n",
    "manifests/b.yaml": "apiVersion: dimsync/v1\nkind: Tagg\nmetadata: { name: y }\nspec: { name: Y, descripton: z }\n",
  };

  test("are shown all at once, at their places, with the line and what was meant", async () => {
    const { code, stdout, stderr } = await dimsync(["validate"], { cwd: emptyFolder(broken) });
    expect(stdout).toMatch(/^manifests\/a\.yaml:\d+:\d+ {2}E_YAML_SYNTAX/mu);
    expect(stdout).toMatch(/^manifests\/b\.yaml:2:7 {2}E_UNKNOWN_KIND/mu);
    expect(stdout).toContain("2 | kind: Tagg");
    expect(stdout).toMatch(/Did\s+you\s+mean\s+Tag\?/u);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  });

  test.each(["plan", "drift", "apply --yes"])("keep %s from looking at the account", async (command) => {
    const folder = emptyFolder(broken);
    const { code, stdout } = await dimsync([...command.split(" "), "-o", "json"], { cwd: folder });
    const document = JSON.parse(stdout);
    expect(document.diagnostics.map(({ file }: { readonly file: string }) => file)).toContain("manifests/b.yaml");
    expect(document.calls.read ?? document.calls).toEqual({});
    expect(code).toBe(1);
  });

  test("aren't called a failed read", async () => {
    const { stdout } = await dimsync(["plan"], { cwd: emptyFolder(broken) });
    expect(stdout).toContain("The account was not looked at");
    expect(stdout).not.toContain("a read failed");
  });
});
