// Writes docs/reference/ from the JSON Schemas, the command line and the sources, so that it can't go stale: `node docs/generate.mjs`.
// `--check` writes nothing and exits 1 where a page would change.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { commandPage } from "./generate/commands.mjs";
import { diagnosticsPage } from "./generate/diagnostics.mjs";
import { schemaPage } from "./generate/schemas.mjs";

const root = new URL("..", import.meta.url).pathname;
const folder = join(root, "docs/reference");
const made = "<!-- Made by docs/generate.mjs. Change what it is made from, and run it again. -->\n\n";

const schemas = ["integration", "asset", "tag", "schema-config", "rule-set", "policy", "config"];

async function pages() {
  const found = {};
  const manifest = JSON.parse(await readFile(join(root, "schema/manifest.schema.json"), "utf8"));
  for (const name of schemas) {
    const file = join(root, `schema/${name}.schema.json`);
    const schema = await readFile(file, "utf8").then(JSON.parse, () => undefined);
    const title = name.replaceAll(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase());
    const page = schemaPage(title, schema ?? manifest.definitions[title], schema ?? manifest);
    if (page !== undefined) found[`${name}.md`] = page;
  }
  found["commands.md"] = await commandPage(await program());
  found["diagnostics.md"] = await diagnosticsPage(join(root, "src"));
  const titles = Object.entries(found).map(([file, text]) => `- [${/^# (.*)$/m.exec(text)?.[1]}](${file})`);
  found["README.md"] = `# Reference\n\n${titles.sort().join("\n")}\n`;
  return Object.fromEntries(Object.entries(found).map(([file, text]) => [file, made + text]));
}

/** The commander program of src/cli.ts, bundled for this run. */
async function program() {
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

const wanted = await pages();
const isCheck = process.argv.includes("--check");
await mkdir(folder, { recursive: true });
const present = await readdir(folder);
const stale = [];
for (const [file, text] of Object.entries(wanted)) {
  const before = await readFile(join(folder, file), "utf8").catch(() => undefined);
  if (before === text) continue;
  stale.push(file);
  if (!isCheck) await writeFile(join(folder, file), text);
}
for (const file of present) {
  if (Object.hasOwn(wanted, file)) continue;
  stale.push(file);
  if (!isCheck) await rm(join(folder, file));
}
if (isCheck && stale.length > 0) {
  process.stderr.write(`Stale in docs/reference: ${stale.join(", ")}. Run node docs/generate.mjs.\n`);
  process.exitCode = 1;
}
