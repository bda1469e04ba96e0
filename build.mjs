// Builds dist/: validators from schema/ (ajv standalone), then the bundles (build/program.mjs), then the help texts, then the types.
// `--generate` stops after the validators, `--no-types` leaves the declaration files out, `--out DIR` builds into another folder.
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { build } from "esbuild";
import { lazyPackages } from "./build/lazy-modules.mjs";
import { bundleProgram } from "./build/program.mjs";
import { thirdPartyLicenses } from "./build/third-party-licenses.mjs";

const root = new URL(".", import.meta.url);
const at = (path) => new URL(path, root);
const outFlag = process.argv.indexOf("--out");
const out = outFlag < 0 ? at("dist/") : pathToFileURL(`${resolve(process.argv[outFlag + 1] ?? "")}/`);
const inOut = (path) => new URL(path, out).pathname;

/**
 * One CommonJS module per schema file, named after it: schema/tag.schema.json -> validators/tag.generated.cjs. They are half a megabyte, and a run
 * needs one or two. The index beside them gives each a name (schemaConfig) and loads it when it is first called.
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
    code: { source: true, lines: true, optimize: 2 },
  });
  addFormats(ajv);
  const names = files.map((name) => name.replace(".schema.json", ""));
  await rm(validators, { recursive: true, force: true });
  await mkdir(validators, { recursive: true });
  for (const [i, name] of names.entries()) {
    const code = await bundleRequires(standaloneCode(ajv, { validate: schemas[i].$id }));
    await writeFile(new URL(`${name}.generated.cjs`, validators), `${made}\n${code}`);
  }
  const index = `${made}
import { createRequire } from "node:module";
const load = createRequire(import.meta.url);
function lazy(path) {
  let loaded;
  const validator = (value) => {
    loaded ??= load(path).validate;
    const valid = loaded(value);
    validator.errors = loaded.errors;
    return valid;
  };
  return validator;
}
${names.map((name) => `export const ${camel(name)} = /* @__PURE__ */ lazy("./validators/${name}.generated.cjs");`).join("\n")}
`;
  const types = [
    made,
    'import type { ErrorObject } from "ajv";',
    "export interface Validator { (data: unknown): boolean; errors?: null | ErrorObject[] }",
    ...names.map((name) => `export declare const ${camel(name)}: Validator;`),
    "",
  ].join("\n");
  await writeFile(at("src/manifests/validators.generated.js"), index);
  await writeFile(at("src/manifests/validators.generated.d.ts"), types);
}

const made = "// Made by build.mjs from schema/*.schema.json.";
const validators = at("src/manifests/validators/");

/** Makes a CommonJS file that stands alone: what it requires is put into it, such as ajv's small runtime parts. */
async function bundleRequires(code) {
  const result = await build({
    stdin: { contents: code, resolveDir: root.pathname, loader: "js" },
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20",
    minify: true,
  });
  return result.outputFiles[0].text;
}

const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

async function bundle() {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const { version } = JSON.parse(await readFile(at("package.json"), "utf8"));
  const names = await bundleProgram(root.pathname, inOut("."), version);
  await chmod(inOut("bin.cjs"), 0o755);
  await writeFile(inOut("index.js"), `import library from "./lib/index.cjs";\nexport const { ${names.join(", ")} } = library;\n`);
  for (const name of lazyPackages) await writeFile(inOut(`lib/${name}.cjs`), await bundleRequires(`module.exports = require("${name}");`));
  await copyValidators();
  await writeFile(inOut("THIRD_PARTY_LICENSES.txt"), await thirdPartyLicenses(root.pathname));
}

/** Those that the program loads: documents that it only writes are checked by tests alone. */
async function copyValidators() {
  const bundles = (await readdir(inOut("lib"))).filter((name) => name.endsWith(".cjs"));
  const code = (await Promise.all(bundles.map((name) => readFile(inOut(`lib/${name}`), "utf8")))).join();
  const loaded = (await readdir(validators)).filter((file) => code.includes(`./validators/${file}`));
  await mkdir(inOut("lib/validators"));
  for (const file of loaded) await copyFile(new URL(file, validators), inOut(`lib/validators/${file}`));
}

/** Help texts as the program itself prints them, so that asking for help loads nothing (src/prebuilt-help.ts reads them). */
async function prebuildHelp() {
  const help = (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [inOut("bin.cjs"), ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`dimsync ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const program = help("--help");
  const names = [...program.matchAll(/^ {2}([a-z][a-z-]*)(?:\|([a-z-]+))?(?= )/gmu)].flatMap(([, name, alias]) =>
    [name, alias ?? []].flat(),
  );
  const texts = names.filter((name) => name !== "help" && name !== "dimsync").map((name) => [name, help(name, "--help")]);
  await mkdir(inOut("help"), { recursive: true });
  for (const [name, text] of [["dimsync", program], ...texts]) await writeFile(inOut(`help/${name}.txt`), text);
}

function declarations() {
  execFileSync(
    process.execPath,
    [
      at("node_modules/typescript/bin/tsc").pathname,
      ...["--noEmit", "false", "--emitDeclarationOnly", "--declarationDir", inOut("types")],
      ...["--rootDir", at("src").pathname, "-p", at("tsconfig.build.json").pathname],
    ],
    { stdio: "inherit" },
  );
}

await generateValidators();
if (!process.argv.includes("--generate")) {
  await bundle();
  await prebuildHelp();
  if (!process.argv.includes("--no-types")) declarations();
}
