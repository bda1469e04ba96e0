// A library function never prints and never ends the process.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { integrations } from "../../src/core/kinds/lists.ts";
import * as library from "../../src/index.ts";
import {
  apply,
  createClient,
  drift,
  explain,
  importAccount,
  listTargets,
  loadProject,
  ProblemsError,
  type ProgressEvent,
  plan,
  renderers,
  Secret,
  startEmbeddedService,
} from "../../src/index.ts";
import { emptyFolder, quickstart, quickstartSecrets, repository } from "../cli/built-cli.ts";
import { outcomes } from "../support/steps.ts";

beforeEach(() => {
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => {
      throw new Error(`The library printed ${String(text)}`);
    });
  vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`The library ended the process with ${code}`);
  });
});
afterEach(() => vi.restoreAllMocks());

describe("the library", () => {
  test("plans and applies, and the next plan is empty", async () => {
    const cwd = quickstart();
    const project = await loadProject({ cwd });
    expect(project.problems).toEqual([]);
    const made = await plan(project);
    expect(made).toMatchObject({
      kind: "Plan",
      target: "demo",
      counts: { create: 2, update: 1 },
      exit: { code: 2, reasons: ["changes"] },
    });
    const result = await apply(project, { env: quickstartSecrets });
    expect(result).toMatchObject({ kind: "Result", exit: { code: 0 } });
    expect(outcomes(result).every(({ outcome }) => outcome === "done")).toBe(true);
    expect(readFileSync(join(cwd, "dimsync.bindings.yaml"), "utf8")).toContain("Integration/returns");
    expect(await plan(project)).toMatchObject({ steps: [], exit: { code: 0 } });
    expect(await drift(project)).toMatchObject({ kind: "DriftReport", steps: [], exit: { code: 0 } });
  });

  test("works with an embedded service, and reports a user's change", async () => {
    const service = await startEmbeddedService();
    try {
      const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: service.apiKey };
      const client = createClient({
        baseUrl: service.url,
        apiKey: new Secret(service.apiKey),
        timeoutMs: 600_000,
        retries: 0,
        concurrency: 2,
        readOnly: true,
        userAgent: "a test",
        env: {},
      });
      const { items } = await client.list(integrations);
      await client.close();
      expect(items.map(({ name }) => name)).toContain("Orders");
      const cwd = emptyFolder({
        "m.yaml":
          "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec: { match: { name: Orders }, expect: { paused: true } }\n",
      });
      const report = await drift(await loadProject({ cwd, env }), { env });
      expect(report).toMatchObject({
        steps: [{}, { address: "Integration/orders", standing: "byHand", changes: [{ path: "/paused", after: true, before: false }] }],
        exit: { code: 2 },
      });
      expect(renderers.human(report, { color: false, verbose: false })).toContain("Integration/orders");
    } finally {
      await service.close();
    }
  });

  test("reports its progress as events", async () => {
    const events: ProgressEvent[] = [];
    await plan(await loadProject({ cwd: quickstart() }), { onProgress: (event) => events.push(event) });
    const steps = events.filter((event) => event.type === "step");
    expect(steps.length).toBeGreaterThan(0);
    for (const { done, total } of steps) expect(done).toBeLessThanOrEqual(total);
  });

  test("applies everything although its listener throws", async () => {
    const cwd = quickstart();
    const onProgress = (): never => {
      throw new Error("a listener's error");
    };
    const { exit } = await apply(await loadProject({ cwd }), { env: quickstartSecrets, onProgress });
    expect(exit.code).toBe(0);
  });

  test.each(["before it starts", "while it reads"])("rejects if its signal is aborted %s", async (when) => {
    const project = await loadProject({ cwd: quickstart() });
    const stop = new AbortController();
    if (when === "before it starts") stop.abort();
    const options = { env: quickstartSecrets, signal: stop.signal, onProgress: () => stop.abort() };
    for (const run of [plan, drift]) await expect(run(project, options)).rejects.toMatchObject({ code: "E_INTERRUPTED" });
    await expect(explain(project, { address: "Schemas/orders", path: ["public"] }, options)).rejects.toMatchObject({
      code: "E_INTERRUPTED",
    });
  });

  test("stops when its signal is aborted, before anything is written", async () => {
    const cwd = quickstart();
    const project = await loadProject({ cwd });
    const result = await apply(project, { env: quickstartSecrets, signal: AbortSignal.abort() }).catch((error: unknown) => error);
    expect(result instanceof Error || (result as { readonly exit: { readonly code: number } }).exit.code !== 0).toBe(true);
    expect((await plan(project)).counts).toMatchObject({ create: 2, update: 1 });
  });

  test("reads no environment variable that is not passed", async () => {
    vi.stubEnv("DIMSYNC_VAR_frequency", "9h");
    const frequencyOf = async (options: object) => {
      const { manifests } = await loadProject({ cwd: quickstart(), ...options });
      return JSON.stringify(manifests.find(({ address }) => address === "Integration/returns")?.spec);
    };
    expect(await frequencyOf({})).toContain('"60"');
    expect(await frequencyOf({ env: process.env })).toContain('"9h"');
  });

  test("returns problems of manifests, and throws if the config can't be used", async () => {
    const { problems } = await loadProject({
      cwd: emptyFolder({ "m.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: x }\nspec: { nam: y }\n" }),
    });
    expect(problems.map(({ code }) => code)).toContain("E_UNKNOWN_KEY");
    await expect(loadProject({ cwd: emptyFolder({ "dimsync.yaml": "kind: [" }) })).rejects.toBeInstanceOf(ProblemsError);
  });

  test("lists the targets of a config", async () => {
    const cwd = emptyFolder({
      "dimsync.yaml":
        "apiVersion: dimsync/v1\nkind: Config\ntargets:\n  dev: { baseUrl: 'embedded::memory:' }\n  prod: { baseUrl: 'embedded::memory:' }\n",
    });
    expect(await listTargets({ cwd })).toEqual(["dev", "prod"]);
  });

  test("imports an account and explains a column", async () => {
    const service = await startEmbeddedService();
    try {
      const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: service.apiKey };
      const cwd = emptyFolder({});
      const dry = await importAccount({ cwd, env, dryRun: true });
      expect(dry).toMatchObject({ kind: "Import", dryRun: true, exit: { code: 0 } });
      const report = await importAccount({ cwd, env });
      expect(report).toMatchObject({ dryRun: false, remaining: [], exit: { code: 0 } });
      expect(report.files.map(({ path }) => path)).toEqual(dry.files.map(({ path }) => path));

      const project = await loadProject({ cwd, env });
      expect(await plan(project, { env })).toMatchObject({ steps: [], exit: { code: 0 } });

      const config = project.manifests.find(({ kind }) => kind === "SchemaConfig");
      const [schema = "public"] = Object.keys((config?.spec as { readonly schemas?: object } | undefined)?.schemas ?? {});
      const explained = await explain(project, { address: config?.address ?? "", path: [schema] }, { env });
      expect(explained[0]).toMatchObject({ path: [schema], changesInAll: 0 });
      await expect(explain(project, { address: config?.address ?? "", path: [] }, { env })).rejects.toMatchObject({ code: "E_USAGE" });
    } finally {
      await service.close();
    }
  });

  test.each([
    ["loadProject", loadProject],
    ["listTargets", listTargets],
    ["importAccount", importAccount],
  ])("%s says which option is missing", async (_, load: (options: never) => Promise<unknown>) => {
    for (const options of [{}, undefined])
      await expect(load(options as never)).rejects.toMatchObject({
        name: "DimsyncError",
        code: "E_USAGE",
        message: expect.stringMatching(/^The option cwd is missing\. .*process\.cwd\(\)/u),
      });
  });

  test("is documented: docs/library.md mentions every export", () => {
    const page = readFileSync(join(repository, "docs/library.md"), "utf8");
    expect(Object.keys(library).filter((name) => !new RegExp(`\\b${name}\\b`, "u").test(page))).toEqual([]);
  });
});
