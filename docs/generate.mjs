// Writes docs/reference/, with the man page, from the JSON Schemas, the command line and the sources, so that they can't go stale:
// `node docs/generate.mjs`.
// `--check` writes nothing and exits 1 where a page would change.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { commandPage } from "./generate/commands.mjs";
import { diagnosticsPage } from "./generate/diagnostics.mjs";
import { manPage } from "./generate/man.mjs";
import { schemaPage } from "./generate/schemas.mjs";

const root = new URL("..", import.meta.url).pathname;
const made = "<!-- Made by docs/generate.mjs. Change what it is made from, and run it again. -->\n\n";

const schemas = ["integration", "asset", "tag", "schema-config", "rule-set", "policy", "config"];

async function pages(program) {
  const found = {};
  const manifest = JSON.parse(await readFile(join(root, "schema/manifest.schema.json"), "utf8"));
  for (const name of schemas) {
    const file = join(root, `schema/${name}.schema.json`);
    const schema = await readFile(file, "utf8").then(JSON.parse, () => undefined);
    const title = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase());
    const page = schemaPage(title, schema ?? manifest.definitions[title], schema ?? manifest);
    if (page !== undefined) found[`${name}.md`] = page;
  }
  found["commands.md"] = await commandPage(program);
  found["diagnostics.md"] = await diagnosticsPage(join(root, "src"));
  const titles = Object.entries(found).map(([file, text]) => `- [${/^# (.*)$/m.exec(text)?.[1]}](${file})`);
  found["README.md"] = `# Reference\n\n${titles.sort().join("\n")}\n`;
  return Object.fromEntries(Object.entries(found).map(([file, text]) => [file, made + text]));
}

/** The commander program of src/cli.ts, bundled for this run. */
async function commandLine() {
  const temp = await mkdtemp(join(root, "node_modules/.dimsync-docs-"));
  try {
    const outfile = join(temp, "cli.mjs");
    await build({
      entryPoints: [join(root, "src/cli.ts")],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      packages: "external",
      logLevel: "error",
      plugins: [
        {
          name: "no commands",
          setup: ({ onResolve }) =>
            onResolve({ filter: /^\.\/commands\// }, ({ kind, path }) =>
              kind === "dynamic-import" ? { path, external: true } : undefined,
            ),
        },
      ],
    });
    const { makeProgram } = await import(pathToFileURL(outfile).href);
    const io = { stdout: () => {}, stderr: () => {}, columns: 100, env: {}, cwd: "/", interrupted: new AbortController().signal };
    return makeProgram(io, () => {}).program;
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

async function manual(program) {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return manPage(program, version, await readFile(join(root, "docs/commands.md"), "utf8"));
}

const isCheck = process.argv.includes("--check");
const stale = [];
/** Brings a folder to what it should hold, or tells what is stale. */
async function keep(folder, wanted) {
  await mkdir(join(root, folder), { recursive: true });
  for (const [file, text] of Object.entries(wanted)) {
    const before = await readFile(join(root, folder, file), "utf8").catch(() => undefined);
    if (before === text) continue;
    stale.push(`${folder}/${file}`);
    if (!isCheck) await writeFile(join(root, folder, file), text);
  }
  for (const file of await readdir(join(root, folder))) {
    if (Object.hasOwn(wanted, file)) continue;
    stale.push(`${folder}/${file}`);
    if (!isCheck) await rm(join(root, folder, file));
  }
}

const program = await commandLine();
await keep("docs/reference", { ...(await pages(program)), "dimsync.1": await manual(program) });
if (isCheck && stale.length > 0) {
  process.stderr.write(`Stale: ${stale.join(", ")}. Run node docs/generate.mjs.\n`);
  process.exitCode = 1;
}
