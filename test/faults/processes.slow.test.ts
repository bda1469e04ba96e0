// Two processes, a signal, a frozen process or a full disk lose nothing and send nothing twice.
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Result } from "../../src/core/base/model/plan.ts";
import type { EmbeddedOptions, EmbeddedService } from "../../src/embedded/index.ts";
import { dimsync, type Ended, ended, startCli } from "../cli/built-cli.ts";
import { sampleOf, sampleSeed } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { outcomes } from "../support/steps.ts";
import { copyForAll, operationsIn } from "./cli-process.ts";
import { canaries, type MixedProject, mixedProject } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const program = copyForAll();

type Exchange = Parameters<NonNullable<EmbeddedOptions["onExchange"]>>[0];

interface Scene {
  readonly service: EmbeddedService;
  readonly project: MixedProject;
  readonly run: (argv: readonly string[]) => { readonly process: ChildProcess; readonly ended: Promise<Ended> };
}

async function scene(options: EmbeddedOptions = {}): Promise<Scene> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" }, extended: true, ...options });
  const project = mixedProject(service, { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 });
  onTestFinished(async () => {
    project.remove();
    await service.close();
  });
  return {
    service,
    project,
    run(argv) {
      const process = startCli(argv, { cwd: project.folder, env: canaries, program: program() });
      return { process, ended: ended(process) };
    },
  };
}

/** Resolves when the service has received this many requests, of the method if one is given. */
function gate(after: number, only?: string): { readonly reached: Promise<void>; readonly onExchange: (exchange: Exchange) => void } {
  let open = (): void => undefined;
  let seen = 0;
  const reached = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    reached,
    onExchange: ({ method }) => {
      if (only === undefined || method === only) seen += 1;
      if (seen === after) open();
    },
  };
}

describe("two processes at once", () => {
  it("the second ends with 6, says who holds the lock, and sends nothing", async () => {
    const { reached, onExchange } = gate(1, "POST");
    const { run, project, service } = await scene({ latencyMs: 30, onExchange });
    const first = run(["apply", "--yes"]);
    await reached;
    const second = await run(["apply", "--yes"]).ended;
    expect(second).toMatchObject({ code: 6, stdout: "" });
    expect(second.stderr).toMatch(/E_LOCKED: The target test is locked by the run [0-9a-f-]+ \(process \d+ on /u);
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await settleAccount(service, project)).toMatchObject({ wrong: [], resolved: [] });
  });

  it("with --lock-timeout the second waits and finds nothing to do", async () => {
    const { reached, onExchange } = gate(1, "POST");
    const { run, project, service } = await scene({ latencyMs: 20, onExchange });
    const first = run(["apply", "--yes"]);
    await reached;
    const second = await run(["apply", "--yes", "--lock-timeout", "60s", "-o", "json"]).ended;
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(second).toMatchObject({ code: 0 });
    expect((JSON.parse(second.stdout) as Result).calls.sent).not.toHaveProperty("POST");
    expect(await settleAccount(service, project)).toMatchObject({ wrong: [], resolved: [] });
  });

  it("a lock whose process was killed is taken over, with a message", async () => {
    const { reached, onExchange } = gate(1, "POST");
    const { run, project, service } = await scene({ latencyMs: 50, onExchange });
    const first = run(["apply", "--yes"]);
    await reached;
    first.process.kill("SIGKILL");
    await first.ended;
    const second = await run(["apply", "--yes"]).ended;
    expect(second.stderr).toMatch(
      /The lease of the target test is held by the run .*, which has no process any more\. This run takes it over/u,
    );
    expect(await settleAccount(service, project)).toMatchObject({ wrong: [] });
  });
});

describe("SIGINT, SIGTERM and SIGHUP: nothing new is started, the request in flight finishes, the result is written, exit 130 or 129", () => {
  const codes = { SIGINT: 130, SIGTERM: 130, SIGHUP: 129 };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    it(`${signal} while a create is in flight`, async () => {
      let interrupt = (): void => undefined;
      const { run, project, service } = await scene({
        faults: ["POST /v1/assets$=delay:400"],
        onExchange: ({ method, path }) => {
          if (method === "POST" && path === "/v1/assets") interrupt();
        },
      });
      const started = run(["apply", "--yes", "-o", "json", "--result", "result.json"]);
      interrupt = () => void started.process.kill(signal);
      const { code, stdout, stderr } = await started.ended;
      expect(code).toBe(codes[signal]);
      expect(stderr).toContain("interrupted");
      const result = JSON.parse(readFileSync(join(project.folder, "result.json"), "utf8")) as Result;
      expect(JSON.parse(stdout)).toEqual(result);
      expect(result.exit.code).toBe(130);
      expect(outcomes(result).find(({ address }) => address === "Asset/archive")).toMatchObject({ outcome: "done" });
      expect(result.bindings).toHaveProperty("Asset/archive");
      expect(service.counts()["POST"]).toBe(1);
      expect(outcomes(result).filter(({ outcome }) => outcome === "skipped").length).toBeGreaterThan(3);
      service.clearFaults();
      expect(await settleAccount(service, project)).toMatchObject({ wrong: [], resolved: [] });
    });

  it("while the account is read: nothing is sent, and the reads end", async () => {
    const { reached, onExchange } = gate(2);
    const { run, service } = await scene({ latencyMs: 300, onExchange });
    const started = run(["apply", "--yes", "--result", "result.json"]);
    await reached;
    started.process.kill("SIGINT");
    expect(await started.ended).toMatchObject({ code: null, signal: "SIGINT" });
    expect(Object.keys(service.counts())).toEqual(["GET"]);
    expect(service.requests.length).toBeLessThan(5);
  });
});

/** Results that a run on a full disk must not have, whatever it could not write. */
function mistakes({ code, signal, stdout, stderr }: Ended, createdIds: readonly string[]): readonly string[] {
  const wrong: string[] = [];
  if (signal !== null) wrong.push(`it was ended by ${signal}`);
  if (code !== 1 && code !== 4 && code !== 0) wrong.push(`exit ${code}`);
  if (/^\s+at .*:\d+:\d+\)?$/mu.test(stderr) || stderr.includes("E_INTERNAL")) wrong.push(`a stack trace: ${stderr}`);
  for (const id of createdIds) if (!stdout.includes(id)) wrong.push(`the id ${id} is not in the output`);
  return wrong;
}

/** Operations that a full disk refuses. */
const refused = /^(?:write|append|link|mkdir|copyFile)/u;

describe("a disk that becomes full", () => {
  it("at any operation: nothing is lost, created ids are printed, and the next run continues", async () => {
    const all = (await fullFrom(undefined)).operations.map((operation, index) => ({ operation, at: index + 1 }));
    const cases = sampleOf(
      all.filter(({ operation }) => refused.test(operation)),
      { name: "full disk", kindOf: ({ operation }) => operation.split(" ")[0] ?? "", most: () => 3 },
    );
    const outcomes = await pLimit(3).map(cases, ({ at }) => fullFrom(at));
    const failures = outcomes.flatMap(({ wrong }) => wrong);
    console.info(`full disk: ${cases.length} of ${all.length} operations, DIMSYNC_TESTS_SEED=${sampleSeed}, ${failures.length} failures`);
    expect(failures).toEqual([]);
    expect(cases.length).toBeGreaterThan(8);
  });
});

/** Applies on a disk that is full from an operation on, or never, and then until the account is as declared. */
async function fullFrom(at: number | undefined): Promise<{ readonly operations: readonly string[]; readonly wrong: readonly string[] }> {
  const service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" }, extended: true });
  const project = mixedProject(service, { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 });
  const objects = (): readonly string[] =>
    [...service.state().assets.filter(({ connectionType }) => connectionType === "destination"), ...service.state().integrations].map(
      ({ id }) => id,
    );
  const before = new Set(objects());
  try {
    const preload = new URL(`./kill-at.mjs?at=${at ?? 0}&full=${at === undefined ? 0 : 1}`, import.meta.url).href;
    const options = { cwd: project.folder, env: canaries, program: program(), nodeArgs: ["--import", preload] };
    const end = await dimsync(["apply", "--yes"], options);
    const created = objects().filter((id) => !before.has(id));
    const settled = await settleAccount(service, project);
    const wrong = [...mistakes(end, created), ...settled.wrong].map((what) => `full from operation ${at}: ${what}`);
    return { operations: operationsIn(end.stderr), wrong };
  } finally {
    await service.close();
    project.remove();
  }
}
