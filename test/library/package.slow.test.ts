// The package can be imported by name, without its dependencies.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { builtCli, emptyFolder, quickstart, repository } from "../cli/built-cli.ts";

const run = promisify(execFile);
const dist = dirname(builtCli);

/** A folder with the packed `dimsync` installed, and nothing else from this repository. */
function consumer(files: Readonly<Record<string, string>>): string {
  const folder = emptyFolder({ "package.json": '{ "type": "module" }', ...files });
  const installed = join(folder, "node_modules/dimsync");
  mkdirSync(installed, { recursive: true });
  cpSync(join(repository, "package.json"), join(installed, "package.json"));
  cpSync(dist, join(installed, "dist"), { recursive: true });
  cpSync(join(repository, "schema"), join(installed, "schema"), { recursive: true });
  return folder;
}

test("the package can be imported by name, without its dependencies", async () => {
  const folder = consumer({
    "use.js": `
      import { loadProject, plan, startEmbeddedService, createClient, apply, drift } from "dimsync";
      const made = await plan(await loadProject({ cwd: ${JSON.stringify(quickstart())} }));
      process.stdout.write(JSON.stringify({ create: made.counts.create, functions: [startEmbeddedService, createClient, apply, drift].map((one) => typeof one) }));
    `,
  });
  const { stdout, stderr } = await run(process.execPath, ["use.js"], { cwd: folder });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ create: 2, functions: ["function", "function", "function", "function"] });
});

test.skipIf(!existsSync(join(dist, "index.d.ts")))("its types accept a correct program, and refuse an incorrect one", async () => {
  const right = `
    import { apply, tags, type Client, createClient, DimsyncError, drift, eachChange, loadProject, type Plan, plan, type ProgressEvent, type Result, Secret, startEmbeddedService } from "dimsync";
    const service = await startEmbeddedService();
    const project = await loadProject({ cwd: ".", env: { DIMSYNC_BASE_URL: service.url } });
    const made: Plan = await plan(project, { signal: new AbortController().signal, onProgress: (event: ProgressEvent) => void event.type });
    for (const item of made.steps) for (const change of eachChange(item)) console.log(change.path, change.risk === "exposes");
    const report: Plan = await drift(project);
    const result: Result = await apply(project, { protectOnly: true });
    const client: Client = createClient({ baseUrl: service.url, apiKey: new Secret("k"), timeoutMs: 1, retries: 0, concurrency: 1, readOnly: true, userAgent: "me", env: {} });
    console.log(result.exit.code, report.kind, (await client.list(tags)).items[0]?.name, DimsyncError.name);
  `;
  const folder = consumer({
    "right.ts": right,
    "right.cts": `import { loadProject, plan, type Plan } from "dimsync";\nexport const made: Promise<Plan> = loadProject({ cwd: "." }).then((project) => plan(project));\n`,
    "documented.ts": /```ts\n([\s\S]*?)```/u.exec(readFileSync(join(repository, "docs/library.md"), "utf8"))?.[1] ?? "",
    "wrong.ts": `${right}\n    const risk: "neutral" = made.steps[0].changes[0].risk;\n    result.calls.sent.nope();\n`,
  });
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  // The settings of a consumer on Node.
  symlinkSync(join(repository, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  symlinkSync(join(repository, "node_modules/undici-types"), join(folder, "node_modules/undici-types"));
  const check = (...files: readonly string[]) => {
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          module: "nodenext",
          target: "es2022",
          lib: ["es2023"],
          types: ["node"],
          noEmit: true,
          skipLibCheck: false,
        },
        files,
      }),
    );
    return run(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: folder }).then(
      () => "",
      (error: { readonly stdout?: string }) => error.stdout ?? String(error),
    );
  };
  expect(await check("right.ts", "right.cts", "documented.ts")).toBe("");
  expect(await check("wrong.ts")).toMatch(/wrong\.ts\(\d+,\d+\): error TS2322[\s\S]*wrong\.ts\(\d+,\d+\): error TS2349/u);
});
