import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { capturedIo } from "../support/captured-io.ts";
import type { Ran } from "../support/command.ts";
import { configText, keyVariable, writeFolder, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

// Adding a kind takes its folder, its schema and one line in the registry. These tests load the sources
// with a registry that has one kind more, and use it from the command line. Its literal has the type
// that the registry asks for: the compiler checks it with the other tests.

const pathTo = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The line in the registry, and the validator that the build would make from the schema. */
const withNewKind: Plugin = {
  name: "new kind",
  setup({ onLoad }) {
    // esbuild refuses the flag u.
    onLoad({ filter: /\/src\/kinds\/index\.ts$/ }, ({ path }) => {
      const registry = readFileSync(path, "utf8");
      const kinds = "[asset, integration, schemaConfig, tag]";
      if (!registry.includes(kinds)) throw new Error(`The registry has other kinds than ${kinds}.`);
      const contents = registry.replace(kinds, "[asset, integration, schemaConfig, tag, note]");
      return { contents: `import { note } from ${JSON.stringify(pathTo("./new-kind/index.ts"))};\n${contents}`, loader: "ts" };
    });
    onLoad({ filter: /\/validators\.generated\.js$/ }, ({ path }) => ({
      contents: `import { Ajv } from "ajv";
        import noteSchema from ${JSON.stringify(pathTo("./new-kind/note.schema.json"))};
        ${readFileSync(path, "utf8").replace("import.meta.url", JSON.stringify(pathToFileURL(path).href))}
        manifestValidators.set("Note", new Ajv({ allErrors: true, ownProperties: true }).compile(noteSchema));
        schemas.set("Note", () => noteSchema);`,
      loader: "js",
    }));
  },
};

/** A package with the schema. */
const folder = writeFolder({
  "package.json": "{}",
  "schema/note.schema.json": readFileSync(pathTo("./new-kind/note.schema.json"), "utf8"),
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let main: typeof import("../../src/cli.ts").main;
beforeAll(async () => {
  const outfile = join(folder, "cli.mjs");
  await build({
    entryPoints: [pathTo("../../src/cli.ts")],
    outfile,
    plugins: [withNewKind],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["pg-boss", "@electric-sql/pglite"],
    define: { DIMSYNC_VERSION: '"0.0.0"' },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  ({ main } = await import(pathToFileURL(outfile).href));
}, 60_000);

const manifest = (spec: string): string => `apiVersion: dimsync/v1\nkind: Note\nmetadata: { name: hello }\nspec: ${spec}\n`;

async function newProject(spec: string) {
  const service = await startService();
  onTestFinished(() => service.close());
  const cwd = writeProject({ "dimsync.yaml": configText(service.url), "manifests/note.yaml": manifest(spec) });
  const run = async (...args: readonly string[]): Promise<Ran> => {
    const { io, printed } = capturedIo({ env: { [keyVariable]: service.apiKey }, cwd });
    return { code: await main(args, io), ...printed() };
  };
  return { run, write: (next: string) => writeFileSync(join(cwd, "manifests/note.yaml"), manifest(next)) };
}

const items = ({ stdout }: Ran) =>
  (JSON.parse(stdout) as Plan).items.map(({ action, address, requests }) => ({ action, address, requests }));

describe("a kind that is added with a folder, a schema and one line in the registry", () => {
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
