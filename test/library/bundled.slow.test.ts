// Users of the library may bundle it. The bundle must run without the package.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build, type Format } from "esbuild";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { builtCli, emptyFolder, quickstart, repository } from "../cli/built-cli.ts";

const run = promisify(execFile);

const body = (cwd: string, broken: string) => `
  loadProject({ cwd: ${JSON.stringify(cwd)} })
    .then((project) => plan(project))
    .then(async (made) => {
      const { problems } = await loadProject({ cwd: ${JSON.stringify(broken)} });
      process.stdout.write(JSON.stringify({ create: made.counts.create, problems: problems.map(({ message }) => message) }));
    });`;

/** A folder with the built package and a program that uses it as an ES module (use.mjs) and as CommonJS (use.cjs). */
function consumer(): string {
  const cwd = quickstart();
  // The message about an unknown key is made from the JSON Schema, which the library loads from its
  // own path.
  const broken = emptyFolder({ "m.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: x }\nspec: { nam: y }\n" });
  const folder = emptyFolder({
    "use.mjs": `import { loadProject, plan } from "dimsync";${body(cwd, broken)}`,
    "use.cjs": `const { loadProject, plan } = require("dimsync");${body(cwd, broken)}`,
  });
  const installed = join(folder, "node_modules/dimsync");
  mkdirSync(installed, { recursive: true });
  cpSync(join(repository, "package.json"), join(installed, "package.json"));
  cpSync(dirname(builtCli), join(installed, "dist"), { recursive: true });
  cpSync(join(repository, "schema"), join(installed, "schema"), { recursive: true });
  return folder;
}

async function withEsbuild(folder: string, { entry, format }: { readonly entry: string; readonly format: Format }): Promise<string> {
  const outfile = join(folder, `out.${format === "esm" ? "mjs" : "cjs"}`);
  await build({ entryPoints: [join(folder, entry)], outfile, bundle: true, platform: "node", format, logLevel: "error" });
  return outfile;
}

async function withRolldown(folder: string): Promise<string> {
  const bundle = await rolldown({ input: join(folder, "use.mjs"), platform: "node" });
  const { output } = await bundle.write({ dir: join(folder, "out"), entryFileNames: "[name].mjs" });
  await bundle.close();
  return join(folder, "out", output[0].fileName);
}

test.each<[string, (folder: string) => Promise<string>]>([
  ["an ES module bundled by esbuild", (folder) => withEsbuild(folder, { entry: "use.mjs", format: "esm" })],
  ["an ES module that esbuild turns into CommonJS", (folder) => withEsbuild(folder, { entry: "use.mjs", format: "cjs" })],
  ["CommonJS bundled by esbuild", (folder) => withEsbuild(folder, { entry: "use.cjs", format: "cjs" })],
  ["an ES module bundled by Rolldown", withRolldown],
])("runs in %s without the package", async (_, bundled) => {
  const folder = consumer();
  const program = await bundled(folder);
  renameSync(join(folder, "node_modules"), join(folder, "away"));
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ create: 2, problems: ['"nam" is not a key of `spec`. Did you mean name?'] });
});
