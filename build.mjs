// Builds dist/: validators from schema/ (ajv standalone), then the bundles (esbuild, code splitting), then the types.
// `node build.mjs --generate` stops after the validators, `--no-types` leaves the declaration files out.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { build } from "esbuild";

const root = new URL(".", import.meta.url);
const at = (path) => new URL(path, root);

/** One validator per schema file, named after it: schema/schema-config.schema.json -> schemaConfig. */
async function generateValidators() {
  const files = (await readdir(at("schema/"))).filter((name) => name.endsWith(".schema.json")).sort();
  const schemas = await Promise.all(files.map(async (name) => JSON.parse(await readFile(at(`schema/${name}`), "utf8"))));
  const ajv = new Ajv({
    schemas,
    allErrors: true,
    verbose: false,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    code: { source: true, esm: true, lines: true, optimize: 2 },
  });
  addFormats(ajv);
  const names = files.map((name) => name.replace(".schema.json", ""));
  const exported = Object.fromEntries(names.map((name, i) => [camel(name), schemas[i].$id]));
  const code = await bundleRequires(standaloneCode(ajv, exported));
  const types = [
    "// Made by build.mjs from schema/*.schema.json.",
    'import type { ErrorObject } from "ajv";',
    "export interface Validator { (data: unknown): boolean; errors?: null | ErrorObject[] }",
    ...Object.keys(exported).map((name) => `export declare const ${name}: Validator;`),
    "",
  ].join("\n");
  await writeFile(at("src/manifests/validators.generated.js"), code);
  await writeFile(at("src/manifests/validators.generated.d.ts"), types);
}

/** Standalone code still calls require() for ajv's small runtime parts; inline them so the file is plain ESM. */
async function bundleRequires(code) {
  const result = await build({
    stdin: { contents: code, resolveDir: new URL(".", root).pathname, loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    banner: { js: "// Made by build.mjs from schema/*.schema.json." },
  });
  return result.outputFiles[0].text;
}

const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

async function bundle() {
  await rm(at("dist/"), { recursive: true, force: true });
  await mkdir(at("dist/"), { recursive: true });
  const { version } = JSON.parse(await readFile(at("package.json"), "utf8"));
  await build({
    entryPoints: [at("src/bin.ts").pathname, at("src/index.ts").pathname],
    outdir: at("dist/").pathname,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    sourcemap: false,
    chunkNames: "chunks/[name]-[hash]",
    define: { DIMSYNC_VERSION: JSON.stringify(version) },
    // CommonJS packages inside an ES module need require() for Node's own modules.
    banner: { js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  await chmod(at("dist/bin.js"), 0o755);
}

function declarations() {
  execFileSync(
    process.execPath,
    [
      at("node_modules/typescript/bin/tsc").pathname,
      ...["--noEmit", "false", "--emitDeclarationOnly", "--declarationDir", at("dist/types").pathname],
      ...["--rootDir", at("src").pathname, "-p", at("tsconfig.build.json").pathname],
    ],
    { stdio: "inherit" },
  );
}

await generateValidators();
if (!process.argv.includes("--generate")) {
  await bundle();
  if (!process.argv.includes("--no-types")) declarations();
}
