// Builds dist/: schemas that repeat others (build/documents.mjs), validators from schema/ (ajv standalone), the
// bundles (build/program.mjs), and at the same time the types. `--generate` stops after the validators, `--no-types` skips
// the declaration files, `--out DIR` builds into another folder.
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { rolldown } from "rolldown";
import { documentTypes, isManifest, specTypes, writeDerivedSchemas } from "./build/documents.mjs";
import { lazyPackages } from "./build/lazy-modules.mjs";
import { bundleLibrary, bundleProgram, bundleTypes, writtenModules } from "./build/program.mjs";
import { shippedPackages } from "./build/shipped-packages.mjs";
import { thirdPartyLicenses } from "./build/third-party-licenses.mjs";

const root = new URL(".", import.meta.url);
const at = (path) => new URL(path, root);
const outFlag = process.argv.indexOf("--out");
const out = outFlag < 0 ? at("dist/") : pathToFileURL(`${resolve(process.argv[outFlag + 1] ?? "")}/`);
const inOut = (path) => fileURLToPath(new URL(path, out));
const rootFolder = fileURLToPath(root);
/** Resolves with what the program printed; if it fails, the message contains that. */
const node = (...args) =>
  promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => stdout,
    ({ message, stdout }) => {
      throw new Error(`${message}\n${stdout}`);
    },
  );

/**
 * One CommonJS module per schema file, named after it: schema/tag.schema.json ->
 * validators/tag.generated.cjs. They are half a megabyte, and a run needs one or two. The index
 * beside them exports each by name (schemaConfig) and loads it on the first call.
 */
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
    // One function for each definition instead of copies: the validator of dimsync.yaml, which each run loads, is a third smaller.
    inlineRefs: false,
    code: { source: true, lines: true, optimize: 2 },
  });
  addFormats(ajv);
  const names = files.map((name) => name.replace(".schema.json", ""));
  await rm(validators, { recursive: true, force: true });
  await mkdir(validators, { recursive: true });
  const modulesOf = new Map();
  for (const [i, name] of names.entries()) {
    const { code, modules } = await bundleRequires(standaloneCode(ajv, { validate: schemas[i].$id }));
    modulesOf.set(`${name}.generated.cjs`, modules);
    await writeFile(new URL(`${name}.generated.cjs`, validators), `${made}\n${code}`);
  }
  const index = `${made}
import { createRequire } from "node:module";
const load = createRequire(import.meta.url);
function lazy(read) {
  let loaded;
  const validator = (value) => {
    loaded ??= read().validate;
    const valid = loaded(value);
    validator.errors = loaded.errors;
    return valid;
  };
  return validator;
}
${names.map((name) => `export const ${camel(name)} = /* @__PURE__ */ lazy(() => load("./validators/${name}.generated.cjs"));`).join("\n")}

/** By the kind of manifest. */
export const manifestValidators = new Map([${names.flatMap((name, i) => (isManifest(schemas[i]) ? [`["${schemas[i].title}", ${camel(name)}]`] : [])).join(", ")}]);

const schemas = new Map([
${schemas.flatMap(({ title }, i) => (isRead(schemas[i], names[i]) ? [`  ["${title}", () => load("../../../schema/${files[i]}")],`] : [])).join("\n")}
]);

/** The JSON Schema of what a user writes: a kind of manifest, or "Config". */
export const schemaNamed = (name) => schemas.get(name)?.();
`;
  const types = [
    made,
    'import type { SchemaError } from "./schema/messages.ts";',
    "export interface Validator { (data: unknown): boolean; errors?: null | SchemaError[] }",
    ...names.map((name) => `export declare const ${camel(name)}: Validator;`),
    "export declare const manifestValidators: ReadonlyMap<string, Validator>;",
    "export declare const schemaNamed: (name: string) => unknown;",
    "",
  ].join("\n");
  await writeFile(at("src/core/manifests/validators.generated.js"), index);
  await writeFile(at(`src/${generatedTypes[0]}`), types);
  return modulesOf;
}

const generatedTypes = [
  "core/manifests/validators.generated.d.ts",
  "core/base/model/documents.generated.d.ts",
  "core/base/model/specs.generated.d.ts",
];
const made = "// Generated by build.mjs from schema/*.json.";
const validators = at("src/core/manifests/validators/");

/**
 * Writes a CommonJS file that includes its dependencies, such as small parts of ajv. `modules`: the
 * files whose code it contains.
 */
async function bundleRequires(source) {
  const entry = `${rootFolder}unwritten.cjs`;
  const bundle = await rolldown({
    input: entry,
    cwd: rootFolder,
    platform: "node",
    transform: { target: "node20" },
    plugins: [{ name: "entry", load: (id) => (id === entry ? source : undefined), resolveId: (id) => (id === entry ? id : undefined) }],
  });
  try {
    const { output } = await bundle.generate({ format: "cjs", minify: true, comments: false });
    return { code: output[0].code, modules: writtenModules(output).filter((file) => file !== entry) };
  } finally {
    await bundle.close();
  }
}

/** Schemas of documents that users write: messages about mistakes look into them. */
const isRead = (schema, name) => isManifest(schema) || name === "config";

const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

async function bundle(modulesOfValidators) {
  const { version } = JSON.parse(await readFile(at("package.json"), "utf8"));
  const modules = [
    ...(await bundleProgram(rootFolder, inOut("."), { version })),
    ...(await bundleLibrary(rootFolder, inOut("."), { version })),
  ];
  await chmod(inOut("bin.cjs"), 0o755);
  for (const name of lazyPackages) {
    const lazy = await bundleRequires(`module.exports = require("${name}");`);
    await writeFile(inOut(`lib/${name}.cjs`), lazy.code);
    modules.push(...lazy.modules);
  }
  // The validators contain parts of ajv and its formats.
  for (const file of await copyValidators()) modules.push(...modulesOfValidators.get(file));
  const packages = await shippedPackages(rootFolder, modules);
  await writeFile(inOut("packages.json"), `${JSON.stringify(packages, undefined, 2)}\n`);
  await writeFile(inOut("THIRD_PARTY_LICENSES.txt"), await thirdPartyLicenses(rootFolder, packages));
}

/** Only validators that the program loads: tests check the documents that it only writes. */
async function copyValidators() {
  const bundles = (await readdir(inOut("lib"))).filter((name) => name.endsWith(".cjs"));
  const code = (await Promise.all(bundles.map((name) => readFile(inOut(`lib/${name}`), "utf8")))).join();
  const loaded = (await readdir(validators)).filter((file) => code.includes(`./validators/${file}`));
  await mkdir(inOut("lib/validators"));
  for (const file of loaded) await copyFile(new URL(file, validators), inOut(`lib/validators/${file}`));
  return loaded;
}

/** index.d.cts holds what the library exports and nothing else; index.d.ts exports the same to ES modules. */
async function declarations() {
  const folder = await mkdtemp(join(tmpdir(), "dimsync-types-"));
  try {
    const flags = ["--noEmit", "false", "--emitDeclarationOnly", "--declarationDir", folder, "--rootDir", fileURLToPath(at("src"))];
    const compiler = fileURLToPath(at("node_modules/typescript/bin/tsc"));
    await node(compiler, ...flags, "-p", fileURLToPath(at("tsconfig.build.json")));
    // The compiler copies no file that is a declaration already.
    for (const file of generatedTypes) await copyFile(at(`src/${file}`), join(folder, file));
    await bundleTypes(folder, inOut("."));
    await writeFile(inOut("index.d.ts"), 'export * from "./index.cjs";\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A sentence about a folder that cannot be written; undefined if the build can start. */
function unwritable() {
  const copy = "Build a copy of the project in a folder that you can write to.";
  const written = [
    [rootFolder, copy],
    [fileURLToPath(at("schema/")), copy],
    [fileURLToPath(validators), copy],
    [inOut("."), copy],
    [tmpdir(), "Set TMPDIR to another folder."],
  ];
  for (const [folder, advice] of written)
    try {
      accessSync(folder, constants.W_OK);
    } catch ({ code }) {
      if (code !== "ENOENT") return `${folder} cannot be written (${code}). ${advice}`;
      if (folder === tmpdir()) return `The temporary folder ${folder} does not exist. ${advice}`;
    }
  return undefined;
}

const refusal = unwritable();
if (refusal !== undefined) {
  process.stderr.write(`build: ${refusal}\n`);
  process.exit(1);
}
await writeDerivedSchemas();
await writeFile(at(`src/${generatedTypes[1]}`), `${made}\n${await documentTypes()}`);
await writeFile(at(`src/${generatedTypes[2]}`), `${made}\n${await specTypes()}`);
const modulesOfValidators = await generateValidators();
if (!process.argv.includes("--generate")) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await Promise.all([bundle(modulesOfValidators), process.argv.includes("--no-types") ? undefined : declarations()]);
}
