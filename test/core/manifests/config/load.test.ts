// Every setting of dimsync.yaml and of the environment counts as documented, or is refused at its line.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProblemsError } from "../../../../src/core/base/model/errors.ts";
import { type LoadOptions, listTargets } from "../../../../src/core/manifests/project.ts";
import { coded } from "../../../support/findings.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { config, headings, load, manifest } from "../project-on-disk.ts";

const asset = (name: string, ...lines: readonly string[]) => manifest("Asset", name, "spec:", `  name: ${name}`, ...lines);

describe("targets", () => {
  const two = config(
    "manifests: [m.yaml]",
    "targets:",
    "  prod: { baseUrl: https://prod.example.com }",
    "  test: { baseUrl: https://test.example.com }",
  );
  const files = { "dimsync.yaml": two, "m.yaml": asset("a") };
  const thrownBy = async (options: Partial<LoadOptions>, all: Readonly<Record<string, string>> = files) => {
    try {
      await load(all, options);
    } catch (error) {
      if (error instanceof ProblemsError)
        return { headings: headings(error.diagnostics.map(coded)), message: error.diagnostics.map(({ message }) => message).join() };
      throw error;
    }
    return { headings: [], message: "" };
  };
  test("several, and none selected: they are listed", async () => {
    const { headings: found, message } = await thrownBy({});
    expect(found).toEqual(["dimsync.yaml:4:1 E_AMBIGUOUS_TARGET"]);
    expect(message).toContain("prod, test");
  });
  test("an unknown one", async () => {
    const { headings: found, message } = await thrownBy({ target: "prd" });
    expect(found).toEqual(["dimsync.yaml:4:1 E_UNKNOWN_TARGET"]);
    expect(message).toContain("Did you mean prod?");
  });
  test("one with the name of a member of every object is unknown, too", async () => {
    expect((await thrownBy({ target: "constructor" })).headings).toEqual(["dimsync.yaml:4:1 E_UNKNOWN_TARGET"]);
  });
  test("the flag overrides the environment", async () => {
    expect((await load(files, { target: "test", env: { DIMSYNC_TARGET: "prod" } })).settings.baseUrl).toBe("https://test.example.com");
    expect((await load(files, { env: { DIMSYNC_TARGET: "prod" } })).settings.target).toBe("prod");
  });
  test("listTargets returns them in the order of the file, and default if there is none", async () => {
    expect(await listTargets({ cwd: writeProject(files), env: {} })).toEqual(["prod", "test"]);
    expect(await listTargets({ cwd: writeProject({}), env: {} })).toEqual(["default"]);
    await expect(listTargets({ cwd: writeProject({ "dimsync.yaml": "a: b: c" }), env: {} })).rejects.toBeInstanceOf(ProblemsError);
  });
  test("a variable without a value in a target that is not selected is not a problem", async () => {
    const text = config(
      "manifests: [m.yaml]",
      "targets:",
      "  prod: { baseUrl: https://prod.example.com }",
      `  test: { baseUrl: "https://\${var.HOST}", defaults: { taggedBy: "\${var.p}" } }`,
    );
    expect((await load({ ...files, "dimsync.yaml": text }, { target: "prod" })).problems).toEqual([]);
    expect(headings((await load({ ...files, "dimsync.yaml": text }, { target: "test" })).diagnostics)).toEqual([
      "dimsync.yaml:6:20 E_WRONG_SUBSTITUTION",
      "dimsync.yaml:6:65 E_WRONG_SUBSTITUTION",
    ]);
  });
  test("a config that does not exist, is not YAML, or is not a map", async () => {
    expect((await thrownBy({ configFile: "nope.yaml" })).headings).toEqual(["nope.yaml E_PATH_NOT_FOUND"]);
    expect((await thrownBy({ env: { DIMSYNC_CONFIG: "nope.yaml" } })).headings).toEqual(["nope.yaml E_PATH_NOT_FOUND"]);
    expect((await thrownBy({}, { "dimsync.yaml": "a: [1\n" })).headings[0]).toContain("E_YAML_SYNTAX");
    expect((await thrownBy({}, { "dimsync.yaml": "- a\n" })).headings).toEqual(["dimsync.yaml:1:1 E_WRONG_TYPE"]);
    expect((await thrownBy({}, { "dimsync.yaml": `${two}---\n${two}` })).headings).toEqual(["dimsync.yaml:1:1 E_WRONG_TYPE"]);
  });
});

describe("problems in the config are reported with those in the manifests", () => {
  const rows: Readonly<Record<string, { readonly lines: readonly string[]; readonly at: readonly string[] }>> = {
    "a mistyped key": { lines: ["manifest: [x]"], at: ["dimsync.yaml:3:1 E_UNKNOWN_KEY"] },
    "a key misspelt in a target": { lines: ["targets: { a: { baseUlr: x } }"], at: ["dimsync.yaml:3:17 E_UNKNOWN_KEY"] },
    "a literal API key": { lines: ["targets: { a: { apiKey: hunter2 } }"], at: ["dimsync.yaml:3:25 E_LITERAL_SECRET"] },
    "a literal secret variable": { lines: ["vars: { db_password: hunter2 }"], at: ["dimsync.yaml:3:22 E_LITERAL_SECRET"] },
    "a literal webhook URL": { lines: ["notify: { url: https://example.com/hunter2 }"], at: ["dimsync.yaml:3:16 E_LITERAL_SECRET"] },
    "a literal webhook URL of a target": {
      lines: ["targets: { a: { notify: { url: hunter2, format: slack } } }"],
      at: ["dimsync.yaml:3:32 E_LITERAL_SECRET"],
    },
    "a webhook without a URL": { lines: ["notify: { format: slack }"], at: ["dimsync.yaml:3:1 E_MISSING_KEY"] },
    "http to another machine": { lines: ["targets: { a: { baseUrl: http://example.com } }"], at: ["dimsync.yaml:3:26 E_BASE_URL"] },
    "a password in the URL": {
      lines: ["targets: { a: { baseUrl: https://u:hunter2@example.com } }"],
      at: ["dimsync.yaml:3:26 E_BASE_URL"],
    },
    "the observed profile of an account at a URL": {
      lines: ["targets: { a: { baseUrl: https://example.com, observed: true } }"],
      at: ["dimsync.yaml:3:57 E_WRONG_VALUE"],
    },
    "no URL at all": { lines: ["targets: { a: { baseUrl: example } }"], at: ["dimsync.yaml:3:26 E_BASE_URL"] },
    "a time without a unit": { lines: ["client: { timeoutSeconds: 30x }"], at: ["dimsync.yaml:3:27 E_WRONG_VALUE"] },
    "no concurrency": { lines: ["client: { concurrency: 0 }"], at: ["dimsync.yaml:3:24 E_WRONG_VALUE"] },
    "more than 100 percent": { lines: ["guards: { maxChangedPercent: 101 }"], at: ["dimsync.yaml:3:30 E_WRONG_VALUE"] },
    "an ignore entry without a reason": { lines: ["ignore: [{ address: Tag/a, path: /x }]"], at: ["dimsync.yaml:3:10 E_MISSING_KEY"] },
    "a path that is not a pointer": {
      lines: ["ignore: [{ address: Tag/a, path: x, reason: y }]"],
      at: ["dimsync.yaml:3:34 E_WRONG_VALUE"],
    },
    "a variable's name": { lines: ["vars: { 1a: x }"], at: ["dimsync.yaml:3:9 E_WRONG_VALUE"] },
  };
  test.each(Object.entries(rows))("%s", async (_name, { lines, at }) => {
    const { diagnostics, manifests } = await load({ "dimsync.yaml": config(...lines), "a.yaml": asset("a") });
    expect(headings(diagnostics)).toEqual(at);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
    expect(manifests).toHaveLength(1);
  });
});

describe("settings", () => {
  const full = config(
    "bindings: state/b.yaml",
    "defaults: { taggedBy: a@example.com }",
    "guards: { maxCreates: 1, maxExposedColumns: 2 }",
    "client: { timeoutSeconds: 2m, settleSeconds: 0, schemaWaitSeconds: 1.5, retries: 0, entries: complete }",
    "ignore: [{ address: Tag/a, path: '', reason: r, until: 2027-01-31 }]",
    "notify: { url: { $secret: { env: HOOK } }, format: slack }",
    "targets:",
    "  prod:",
    "    baseUrl: https://api.example.com/",
    "    apiKey: { $secret: { env: PROD_KEY } }",
    "    protected: true",
    "    guards: { maxCreates: 9 }",
    "    client: { retries: 2 }",
  );
  const files = { "dimsync.yaml": full, "a.yaml": asset("a") };
  test("every setting, with defaults for the others", async () => {
    const { settings, folder } = await load(files);
    expect(settings).toEqual({
      target: "prod",
      baseUrl: "https://api.example.com",
      apiKey: { $secret: { env: "PROD_KEY" } },
      apiKeyPlace: { file: "dimsync.yaml", document: 0, pointer: "/targets/prod/apiKey" },
      protected: true,
      defaults: { taggedBy: "a@example.com" },
      guards: {
        maxCreates: 9,
        maxExposedColumns: 2,
        maxChangedPercent: 30,
        maxRemovedRelations: 5,
        maxResyncedTables: 5,
      },
      guardPlaces: {
        maxCreates: { file: "dimsync.yaml", document: 0, pointer: "/targets/prod/guards/maxCreates", on: "key" },
        maxExposedColumns: { file: "dimsync.yaml", document: 0, pointer: "/guards/maxExposedColumns", on: "key" },
      },
      place: { file: "dimsync.yaml", document: 0, pointer: "" },
      review: "report",
      targets: ["prod"],
      client: {
        concurrency: 8,
        columnConcurrency: 128,
        timeoutMs: 120_000,
        settleMs: 0,
        schemaWaitMs: 1500,
        retries: 2,
        entries: "complete",
      },
      allow: [],
      ignore: [
        {
          address: "Tag/a",
          path: "",
          reason: "r",
          until: "2027-01-31",
          place: { file: "dimsync.yaml", document: 0, pointer: "/ignore/0" },
        },
      ],
      notify: { url: { $secret: { env: "HOOK" } }, format: "slack" },
      bindingsFile: join(folder, "state/b.yaml"),
      folder,
      records: { store: "folder" },
    });
  });
  test("records in a ref of the remote", async () => {
    const store = full.replace("    protected: true", "    records: { git: { ref: refs/dimsync/prod, id: 7f3c } }");
    const { settings, problems } = await load({ ...files, "dimsync.yaml": store });
    expect({ records: settings.records, problems }).toEqual({
      records: { store: "git", ref: "refs/dimsync/prod", id: "7f3c", remote: "origin", ttlMs: 300_000 },
      problems: [],
    });
    const shared = `${store}\n  # again\n`.replace(
      "targets:\n",
      "targets:\n  other: { records: { git: { ref: refs/dimsync/prod, id: 1a } } }\n",
    );
    expect((await load({ ...files, "dimsync.yaml": shared }, { target: "prod" })).problems).toMatchObject([
      { code: "E_TARGETS_SHARE", place: { pointer: "/targets/prod/records/git/ref" } },
    ]);
  });
  test("how the controller checks a target", async () => {
    const under = (text: string): string => full.replace("    protected: true", `    controller: { ${text} }`);
    const { settings, problems } = await load({ ...files, "dimsync.yaml": under("every: 5m, mode: protect, labels: { team: data }") });
    expect({ controller: settings.controller, problems }).toEqual({
      controller: { everyMs: 300_000, mode: "protect", labels: { team: "data" } },
      problems: [],
    });
    expect((await load({ ...files, "dimsync.yaml": under("") })).settings.controller).toMatchObject({ everyMs: 900_000, mode: "report" });
    for (const every of ["59s", "8d"])
      expect((await load({ ...files, "dimsync.yaml": under(`every: ${every}`) })).problems).toMatchObject([
        { code: "E_WRONG_VALUE", place: { pointer: "/targets/prod/controller/every" } },
      ]);
  });
  test("a mode of the controller that a protected target refuses", async () => {
    const under = (mode: string): string => full.replace("    protected: true", `    protected: true\n    controller: { mode: ${mode} }`);
    expect((await load({ ...files, "dimsync.yaml": under("report") })).problems).toEqual([]);
    expect((await load({ ...files, "dimsync.yaml": under("protect") })).problems).toMatchObject([
      { code: "W_CONTROLLER_MODE", severity: "warning", place: { pointer: "/targets/prod/controller/mode" } },
    ]);
  });
  test("a target's webhook replaces the common one", async () => {
    const own = full.replace("    protected: true", "    notify: { url: { $secret: { file: hook } } }");
    const { settings, problems } = await load({ ...files, "dimsync.yaml": own });
    expect({ notify: settings.notify, problems }).toEqual({ notify: { url: { $secret: { file: "hook" } } }, problems: [] });
  });
  test("no settings: a project without a config works offline", async () => {
    const { settings, problems, folder } = await load({ "a.yaml": asset("a") });
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      target: "default",
      baseUrl: "",
      apiKey: undefined,
      bindingsFile: join(folder, "dimsync.bindings.yaml"),
    });
  });
  test("environment > target", async () => {
    const { settings, diagnostics } = await load(files, {
      env: { DIMSYNC_BASE_URL: "http://127.0.0.1:8080", DIMSYNC_API_KEY: "canary" },
    });
    expect(settings).toMatchObject({
      baseUrl: "http://127.0.0.1:8080",
      apiKey: { $secret: { env: "DIMSYNC_API_KEY" } },
      client: { retries: 2 },
    });
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([["W_API_KEY_OVERRIDDEN", "warning"]]);
    expect(JSON.stringify([settings, diagnostics])).not.toContain("canary");
  });
  test("an empty environment variable counts as unset, and the key's file is relative to the working directory", async () => {
    const { settings, folder } = await load(
      { "a.yaml": asset("a") },
      { env: { DIMSYNC_API_KEY: "", DIMSYNC_BASE_URL: "", DIMSYNC_API_KEY_FILE: "k" } },
    );
    expect(settings).toMatchObject({ baseUrl: "", apiKey: { $secret: { file: join(folder, "k") } } });
  });
  test.each(["https://api.example.com", "http://localhost:1", "http://[::1]:1", "http://127.8.9.1", "embedded:data.json"])(
    "%s is a base URL",
    async (baseUrl) => {
      expect((await load({ "a.yaml": asset("a") }, { env: { DIMSYNC_BASE_URL: baseUrl } })).settings.baseUrl).toBe(baseUrl);
    },
  );
  test.each([
    "http://10.0.0.1",
    "http://localhost.example.com",
    "http://x.localhost",
    "http://127.0.0.1.example.com",
    "ftp://localhost",
    "https://x?y=1",
    "embedded:",
  ])("%s is not a base URL", async (baseUrl) => {
    const { problems, settings } = await load({ "a.yaml": asset("a") }, { env: { DIMSYNC_BASE_URL: baseUrl } });
    expect([problems.map(({ code }) => code), settings.baseUrl]).toEqual([["E_BASE_URL"], ""]);
  });
});
