import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { configText, keyVariable, writeFolder, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

// Adding a kind takes its folder, its schema and one line in the registry. This test does just that
// to a copy of the project, builds it, and uses the new kind from the command line.

const root = fileURLToPath(new URL("../../", import.meta.url));
const fixture = fileURLToPath(new URL("./new-kind/", import.meta.url));
let copy = "";

beforeAll(() => {
  copy = writeFolder({});
  for (const path of [
    "src",
    "schema",
    "build",
    "build.mjs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "LICENSE",
  ])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const kind = readFileSync(join(fixture, "index.ts"), "utf8")
    .replaceAll("../../../src/kinds/", "../")
    .replaceAll("../../../src/", "../../");
  mkdirSync(join(copy, "src/kinds/note"));
  writeFileSync(join(copy, "src/kinds/note/index.ts"), kind);
  cpSync(join(fixture, "note.schema.json"), join(copy, "schema/note.schema.json"));
  const registry = readFileSync(join(copy, "src/kinds/index.ts"), "utf8");
  writeFileSync(
    join(copy, "src/kinds/index.ts"),
    `import { note } from "./note/index.ts";\n${registry.replace("[asset, integration, schemaConfig, tag]", "[asset, integration, schemaConfig, tag, note]")}`,
  );
  execFileSync(process.execPath, ["build.mjs", "--no-types"], { cwd: copy, stdio: "pipe" });
}, 120_000);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

const manifest = (spec: string): string => `apiVersion: dimsync/v1\nkind: Note\nmetadata: { name: hello }\nspec: ${spec}\n`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
}

async function newProject(spec: string) {
  const service = await startService();
  onTestFinished(() => service.close());
  const folder = writeProject({ "dimsync.yaml": configText(service.url), "manifests/note.yaml": manifest(spec) });
  const run = (...args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const env = { PATH: process.env["PATH"], [keyVariable]: service.apiKey };
      execFile(process.execPath, [join(copy, "dist/bin.cjs"), ...args], { cwd: folder, env }, (error, stdout) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout }),
      );
    });
  return { run, write: (next: string) => writeFileSync(join(folder, "manifests/note.yaml"), manifest(next)) };
}

const items = ({ stdout }: Ran) =>
  (JSON.parse(stdout) as Plan).items.map(({ action, address, requests }) => ({ action, address, requests }));

describe("a kind that is added with a folder, a schema and one line in the registry", () => {
  test("has the types that the registry asks for", () => {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", "tsconfig.build.json"], { cwd: copy });
  }, 60_000);

  test("is created, compared and updated", async () => {
    const { run, write } = await newProject("{ text: hello }");
    expect((await run("plan", "-q", "--no-color")).stdout).toContain(
      '+ Note/hello\n    text   "hello"   manifests/note.yaml:4\n    ↳ POST /v1/assets\n',
    );
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
    write("{ text: bye }");
    const planned = items(await run("plan", "-o", "json"));
    expect(planned).toMatchObject([
      { action: "update", address: "Note/hello", requests: [{ method: "PATCH", body: { description: "bye" } }] },
    ]);
    expect((await run("apply", "--yes", "-q")).code).toBe(0);
    expect((await run("plan", "--detailed-exitcode", "-q")).code).toBe(0);
  });

  test("comes after the kinds before it in the registry", async () => {
    const { run, write } = await newProject("{ text: hello }");
    write("{ text: hello }\n---\napiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: other }");
    expect(items(await run("plan", "-o", "json")).map(({ address }) => address)).toEqual(["Tag/pii", "Tag/pii", "Note/hello"]);
  });

  test("is validated against its schema", async () => {
    const { run } = await newProject("{ txt: hello }");
    const { code, stdout } = await run("validate", "-o", "json");
    const { diagnostics } = JSON.parse(stdout) as Plan;
    expect(code).toBe(1);
    expect(diagnostics.map(({ code: one, file, line }) => `${one} ${file}:${line}`)).toEqual(["E_UNKNOWN_KEY manifests/note.yaml:4"]);
  });

  test("is known to commands", async () => {
    const { run } = await newProject("{ text: hello }");
    expect(JSON.parse((await run("schema", "note")).stdout)).toMatchObject({ title: "Note" });
    expect((await run("render", "Note/hello")).stdout).toContain("text: hello");
    expect((await run("completion", "bash")).stdout).toContain("Note");
  });
});
