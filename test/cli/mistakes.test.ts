// A mistake ends with exit 1, nothing on stdout, what is wrong and what to do.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtCli, dimsync, dimsyncHere, emptyFolder, quickstart } from "./built-cli.ts";

interface Row {
  readonly args: readonly string[];
  readonly shows: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code?: number;
}

// Each exits with 1, prints nothing to stdout and no stack trace, and shows what is wrong and what to do. Run in a copy of the quick start.
const rows: Readonly<Record<string, Row>> = {
  "an unknown command is an error with a similar one": {
    args: ["plann"],
    shows: ["E_USAGE", "'plann'", "Did you mean plan?", "dimsync --help"],
  },
  "an unknown command far from all others": { args: ["frobnicate"], shows: ["Unknown command 'frobnicate'", "dimsync --help"] },
  "an unknown flag is an error with a similar one": {
    args: ["plan", "--detailed-exitcod"],
    shows: ["Unknown option", "Did you mean --detailed-exitcode?", "dimsync plan --help"],
  },
  "an option of Terraform with one dash": {
    args: ["plan", "-out=p.json"],
    shows: ["Unknown option '-out=p.json'", "two dashes: --out=p.json", "dimsync plan --help"],
  },
  "-target of Terraform": {
    args: ["plan", "-target=Tag/pii"],
    shows: ["--target=Tag/pii", "To select addresses, use --only", "dimsync plan --help"],
  },
  "-auto-approve of Terraform": { args: ["apply", "-auto-approve"], shows: ["Unknown option '-auto-approve'", "use --yes"] },
  "--json": { args: ["plan", "--json"], shows: ["Unknown option '--json'", "use -o json", "dimsync plan --help"] },
  "an unknown kind of get": { args: ["get", "monitors"], shows: ['no kind "monitors"', "Kinds: Asset, Integration, Schemas, Tag, User."] },
  "the service as an option of init": {
    args: ["init", "--base-url", "https://api.example.com"],
    shows: ["'--base-url'", "DIMSYNC_BASE_URL"],
  },
  "--auto-approve": { args: ["apply", "--auto-approve"], shows: ["Unknown option '--auto-approve'", "use --yes", "dimsync apply --help"] },
  "--force": { args: ["apply", "--force"], shows: ["Unknown option '--force'", "--allow NAME="] },
  "-f of kubectl": { args: ["apply", "-f", "manifests"], shows: ["Unknown option '-f'", "use --only"] },
  "a manifest as a saved plan": {
    args: ["apply", "manifests/tags.yaml"],
    shows: ["apply takes a saved plan", '"manifests/tags.yaml" is a YAML file', "dimsync apply --only Tag/"],
  },
  "a directory as a saved plan": { args: ["apply", "./manifests/"], shows: ["is a directory", "dimsync apply --only Kind/name"] },
  "a JSON file as a saved plan": { args: ["apply", "account.json"], shows: ["E_PLAN_FILE", "account.json"] },
  "a flag without its value": { args: ["plan", "--out"], shows: ["--out <file>", "argument missing", "dimsync plan --help"] },
  "a missing argument": { args: ["show"], shows: ["Missing required argument 'file'", "dimsync show --help"] },
  "an argument too many": { args: ["get", "a", "b", "c"], shows: ["Too many arguments"] },
  "a directory that does not exist": { args: ["-C", "nowhere", "plan"], shows: ["--chdir", '"nowhere"', "does not exist"] },
  "a config file that does not exist": { args: ["--config", "nope.yaml", "plan"], shows: ["nope.yaml", "does not exist"] },
  "an unknown target": { args: ["-t", "prod", "plan"], shows: ["dimsync.yaml", "E_UNKNOWN_TARGET", '"prod"', "demo"] },
  "all targets and one": { args: ["--all-targets", "-t", "demo", "plan"], shows: ["--all-targets and --target cannot be combined"] },
  "a status page that others could read": {
    args: ["controller", "--listen", "0.0.0.0:0"],
    shows: ["E_CONTROLLER_LISTEN", "DIMSYNC_CONTROLLER_TOKEN", "127.0.0.1:8480"],
  },
  "a token that can be guessed": {
    args: ["controller"],
    env: { DIMSYNC_CONTROLLER_TOKEN: "hunter2" },
    shows: ["E_CONTROLLER_LISTEN", "fewer than 16 characters", "openssl rand -hex 32"],
  },
  "an address without a port": {
    args: ["controller", "--listen", "localhost"],
    shows: ['Invalid --listen "localhost"', "HOST:PORT"],
  },
  "a variable without a value": { args: ["--var", "frequency", "plan"], shows: ["Invalid --var", '"frequency"', "NAME=VALUE"] },
  "--only without a match": { args: ["--only", "Tag/pi", "plan"], shows: ['--only "Tag/pi"', "Did you mean Tag/pii?"] },
  "--exclude without a match": {
    args: ["--exclude", "Tga/*", "plan"],
    shows: ['--exclude "Tga/*"', "does not match the address of any manifest. An address is Kind/name, such as "],
  },
  "an unknown format": { args: ["-o", "jsn", "plan"], shows: ["E_OUTPUT", '"jsn"', "Did you mean json?"] },
  "an unknown format of get": { args: ["-o", "html", "get", "tags"], shows: ["E_OUTPUT", "human, json"] },
  "two documents for stdout": {
    args: ["-o", "json", "-o", "markdown", "plan"],
    shows: ["Only one format can be written to stdout", "-o markdown=PATH"],
  },
  "an output file in a directory that does not exist": { args: ["-o", "json=no/x.json", "plan"], shows: ['"no/x.json"', "does not exist"] },
  "an output file that is a directory": { args: ["-o", "json=manifests", "plan"], shows: ["it is a directory"] },
  "an output file without a name": { args: ["-o", "json=", "plan"], shows: ["the file name is empty"] },
  "a plan file in a directory that does not exist": { args: ["plan", "--out", "no/p.json"], shows: ["--out", "does not exist"] },
  "an invalid duration": { args: ["apply", "--yes", "--lock-timeout", "soon"], shows: ["--lock-timeout", "30s, 5m, 2h or 1d"] },
  "an unknown reason to fail": { args: ["plan", "--fail-on", "exposed"], shows: ["--fail-on", "Did you mean exposes?"] },
  "an unknown guard": { args: ["plan", "--allow", "maxCreate=x"], shows: ["maxCreate", "Did you mean maxCreates?"] },
  "a guard lifted without a reason": { args: ["plan", "--allow", "policy"], shows: ["reason"] },
  "apply without a terminal or --yes": { args: ["apply"], shows: ["E_NOT_CONFIRMED", "--yes", "--out"] },
  "apply with a read-only environment": {
    args: ["apply", "--yes"],
    env: { DIMSYNC_READ_ONLY: "1" },
    shows: ["E_READ_ONLY", "DIMSYNC_READ_ONLY", "plan"],
  },
  "apply with an environment that is not read-only": {
    args: ["apply", "--yes"],
    env: { DIMSYNC_READ_ONLY: "FALSE" },
    shows: ["E_SECRET_MISSING"],
  },
  "apply without its secrets": {
    args: ["apply", "--yes"],
    shows: ["E_SECRET_MISSING", "LAKE_SECRET_KEY", "RETURNS_DB_PASSWORD"],
  },
  "a saved plan that does not exist": { args: ["apply", "plan.json"], shows: ["E_PLAN_FILE", "plan.json"] },
  "get with an unknown kind": { args: ["get", "intgration"], shows: ["Did you mean Integration?"] },
  "assets, of which there is no list": { args: ["get", "assets"], shows: ["no request that lists all assets", "dimsync get Asset ID"] },
  "an asset without service.extended": {
    args: ["get", "asset", "s-1"],
    shows: ["E_NOT_OFFERED", "GET /v1/assets/{id}", "set service: { extended: true }"],
  },
  "schemas without an integration": {
    args: ["get", "schemaconfigs"],
    shows: ["no request that lists all schemas", "dimsync get Schemas ID"],
  },
  "a live object that does not exist": { args: ["get", "tag", "t-99"], shows: ["E_NOT_FOUND", '"t-99"', "dimsync get tags"] },
  "an unknown schema": { args: ["schema", "plans2"], shows: ["Unknown schema", "Schemas: "] },
  "an invalid port": { args: ["serve", "--port", "70000"], shows: ["--port", "65535"] },
  "an account file in a directory that does not exist": { args: ["serve", "--data", "no/a.json"], shows: ["--data", "does not exist"] },
  "a service that cannot be reached": {
    args: ["get", "tags"],
    env: { DIMSYNC_BASE_URL: "http://127.0.0.1:9", DIMSYNC_API_KEY: "key" },
    shows: ["E_SERVICE_UNREACHABLE", "GET /v1/tags", "baseUrl"],
  },
  "http to another machine": {
    args: ["get", "tags"],
    env: { DIMSYNC_BASE_URL: "http://service.example.com", DIMSYNC_API_KEY: "key" },
    shows: ["http", "loopback"],
  },
  "a service without a key": { args: ["get", "tags"], env: { DIMSYNC_BASE_URL: "http://127.0.0.1:9" }, shows: ["DIMSYNC_API_KEY"] },
};

describe("a usage error", () => {
  for (const [what, { args, shows, env, code = 1 }] of Object.entries(rows))
    test(what, async () => {
      const result = await dimsyncHere(args, { cwd: quickstart(), ...(env === undefined ? {} : { env }) });
      for (const words of shows) expect(result.stderr).toContain(words);
      expect(result.stderr).not.toMatch(/^\s+at |E_INTERNAL/mu);
      expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: "" });
    });
});

test("a usage error of the built command line", async () => {
  expect(await dimsync(["plann"])).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("Did you mean plan?") });
});

describe("a folder without a project", () => {
  const folder = () => emptyFolder({ "broken.yaml": "a: [1\n" });

  test.each(["plan", "drift", "apply --yes", "get tags", "audit", "import", "records init", "unbind Tag/a"])(
    "has no account for %s, which does not read the files in it",
    async (command) => {
      const { code, stdout, stderr } = await dimsyncHere(command.split(" "), { cwd: folder() });
      expect(stderr).toMatch(/^dimsync: E_NO_ACCOUNT: There is no dimsync\.yaml .*DIMSYNC_BASE_URL/u);
      expect(stderr).not.toContain("broken.yaml");
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    },
  );

  test("is not valid, because there is nothing to validate", async () => {
    const { code, stdout } = await dimsyncHere(["validate"], { cwd: emptyFolder() });
    expect(stdout).toContain("E_NO_MANIFESTS");
    expect(code).toBe(1);
  });
});

describe("a project without manifests", () => {
  const config = "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: {} }\n";

  test("is valid, with a warning", async () => {
    const { code, stdout } = await dimsyncHere(["validate"], { cwd: emptyFolder({ "dimsync.yaml": config, "manifests/README.md": "" }) });
    expect(stdout).toContain("W_NO_MANIFESTS");
    expect(code).toBe(0);
  });

  test.each(["plan", "drift"])("is an error for %s if the records have ids", async (command) => {
    const bindings = "apiVersion: dimsync/v1\nkind: Bindings\ntargets: { demo: { Tag/pii: { id: t-1 } } }\n";
    const files = { "dimsync.yaml": config.replace("{ demo: {} }", '{ demo: { baseUrl: "embedded:a.json" } }'), "manifests/README.md": "" };
    const { code, stdout } = await dimsyncHere([command], { cwd: emptyFolder({ ...files, "dimsync.bindings.yaml": bindings }) });
    expect(stdout).toMatch(/E_NO_MANIFESTS[\s\S]*The records of target demo have the ids of 1 object/u);
    expect(code).toBe(1);
  });

  test.each(["validate", "plan"])("%s of a path without manifests is an error", async (command) => {
    const cwd = quickstart();
    mkdirSync(join(cwd, "none"));
    const { code, stdout } = await dimsyncHere([command, "none"], { cwd });
    expect(stdout).toContain("E_NO_MANIFESTS");
    expect(code).toBe(1);
  });

  test("needs a base URL for plan", async () => {
    const { code, stderr } = await dimsyncHere(["plan"], { cwd: emptyFolder({ "dimsync.yaml": config }) });
    expect(stderr).toMatch(/^dimsync: E_NO_ACCOUNT: Target "demo" has no base URL\./u);
    expect(code).toBe(1);
  });
});

test("a mistake in dimsync.yaml is shown although there is no API key", async () => {
  const config = "apiVersion: dimsync/v1\nkind: Config\ntargets:\n  demo: { baseUrl: http://127.0.0.1:9 }\n  guards: { maxCreates: 2 }\n";
  const { code, stderr } = await dimsyncHere(["plan", "-t", "demo"], { cwd: emptyFolder({ "dimsync.yaml": config }) });
  expect(stderr).toMatch(/^dimsync\.yaml:5:13 {3}E_UNKNOWN_KEY/mu);
  expect(stderr).toMatch(/E_NO_API_KEY[\s\S]*env: DEMO_API_KEY/u);
  expect(code).toBe(1);
});

test("a working directory that no longer exists", () => {
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

describe("manifests with errors", () => {
  const broken = {
    "dimsync.yaml":
      "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:account.json' } }\n",
    "manifests/a.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: x\nspec: 1\n",
    "manifests/b.yaml": "apiVersion: dimsync/v1\nkind: Tagg\nmetadata: { name: y }\nspec: { name: Y, descripton: z }\n",
  };

  test("are reported all at once, with line, excerpt and suggestion", async () => {
    const { code, stdout, stderr } = await dimsyncHere(["validate"], { cwd: emptyFolder(broken) });
    expect(stdout).toMatch(/^manifests\/a\.yaml:\d+:\d+ {3}E_YAML_SYNTAX/mu);
    expect(stdout).toMatch(/^manifests\/b\.yaml:2:7 {3}E_UNKNOWN_KIND/mu);
    expect(stdout).toContain("2 | kind: Tagg");
    expect(stdout).toMatch(/Did\s+you\s+mean\s+Tag\?/u);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  });

  test.each(["plan", "drift", "apply --yes"])("keep %s from reading the account", async (command) => {
    const folder = emptyFolder(broken);
    const { code, stdout } = await dimsyncHere([...command.split(" "), "-o", "json"], { cwd: folder });
    const document = JSON.parse(stdout);
    expect(document.findings.map(({ file }: { readonly file: string }) => file)).toContain("manifests/b.yaml");
    expect(document.calls.read ?? document.calls.sent).toEqual({});
    expect(code).toBe(1);
  });

  test("are not called a failed read", async () => {
    const { stdout } = await dimsyncHere(["plan"], { cwd: emptyFolder(broken) });
    expect(stdout).toContain("The account was not read. Fix the errors first.");
    expect(stdout).not.toContain("a read failed");
  });
});
