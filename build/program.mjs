// The program is bundled as CommonJS, whose loader takes 4 ms less than that of ES modules at every
// start, and less for each additional file. What `--help` needs is one file, what `validate` needs beside
// it another, and what comparing with an account needs a third. Each kilobyte counts, because V8 reads
// it all: in CPU time, medians of 15 runs in turn on Node 20, `--help` takes 1.8 times as long as
// `node -e 0`, and 3.4 times if it loads what `validate` needs (30 November 2026).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { directImports } from "./direct-imports.mjs";
import { lazyLoading, requiredValidators } from "./lazy-modules.mjs";

/**
 * Writes bin.cjs, which prints the version, and lib/, which contains the code: index.cjs is
 * the library for `require`. Resolves with the files of the modules whose code was written. `sourceMaps` adds a map
 * beside each bundle, which does not refer to it.
 */
export function bundleProgram(root, folder, options) {
  const source = (path) => join(root, "src", path);
  return bundled(root, options, {
    input: { bin: source("bin.ts"), "lib/index": source("index.ts") },
    plugins: [directImports, requiredValidators, lazyLoading, checkNodeFirst, optionalPackages],
    output: {
      dir: folder,
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "lib/[name]-[hash].cjs",
      codeSplitting: {
        groups: [
          // All that bin.cjs needs to print the version.
          group("output", 4, [source("cli/standard-stream.ts"), source("core/base/model/runtime/version.ts")]),
          group("cli", 3, [source("cli/cli.ts")]),
          group("core", 2, [source("features/validate/command.ts"), source("core/render/terminal/index.ts")]),
          group("account", 1, [source("features/plan/command.ts"), source("core/service/client.ts")]),
        ],
      },
    },
  });
}

/**
 * Writes index.js and esm/, the library for `import`: it includes everything that it loads by a
 * path of its own, so that those who use it can bundle it. Resolves like bundleProgram.
 */
export const bundleLibrary = (root, folder, options) =>
  bundled(root, options, {
    input: { index: join(root, "src/index.ts") },
    plugins: [directImports, requiredValidators, requireOfNode],
    output: { dir: folder, format: "esm", chunkFileNames: "esm/[name]-[hash].js" },
  });

/** Only a controller needs a queue, and one without PostgreSQL 15 MB of WebAssembly. */
const optionalPeers = ["pg-boss", "@electric-sql/pglite"];

async function bundled(root, { version, sourceMaps = false }, { input, plugins, output }) {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: optionalPeers,
    // The library contains modules that the command line loads on demand.
    checks: { ineffectiveDynamicImport: false },
    plugins,
    transform: { target: "node20", define: { DIMSYNC_VERSION: JSON.stringify(version) } },
  });
  try {
    // Names of functions are kept, so that stack traces in bug reports are readable.
    const minify = { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: { removeWhitespace: true } };
    return writtenModules((await bundle.write({ comments: false, minify, sourcemap: sourceMaps ? "hidden" : false, ...output })).output);
  } finally {
    await bundle.close();
  }
}

/** Writes FOLDER/index.d.cts, the declarations of the library in one file, from those that the compiler wrote into `declarations`. */
export async function bundleTypes(declarations, folder) {
  const bundle = await rolldown({
    input: join(declarations, "index.d.ts"),
    // Version 0.23 is the last one that supports Node 20.
    plugins: [dts({ dtsInput: true, emitDtsOnly: true }), docsBeforeMembers, declaredGlobals],
    checks: { pluginTimings: false },
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "index.d.cts" });
  await bundle.close();
}

/** Editors do not show a comment that follows another member on its line. */
const docsBeforeMembers = {
  name: "docs-before-members",
  renderChunk: (code) => code.replaceAll(/^( *)(.*\S) (\/\*\* .*)$/gmu, "$1$2\n$1$3"),
};

/** Without @types/node and without the library "dom", the types would be unknown. With them, this adds nothing. */
const declaredGlobals = {
  name: "declared-globals",
  renderChunk: (code) => `declare global {\n  interface AbortSignal {}\n  interface URLSearchParams {}\n}\n${code}`,
};

/** The files of the modules whose code was written. */
export const writtenModules = (output) =>
  output.flatMap(({ modules = {} }) => Object.entries(modules).flatMap(([file, { renderedLength }]) => (renderedLength > 0 ? [file] : [])));

/** The first statement of bin.cjs. */
const checkNode = readFileSync(new URL("check-node.cjs", import.meta.url), "utf8");

/** Old versions of Node get one sentence, before they load anything that they cannot parse. */
const checkNodeFirst = {
  name: "check-node-first",
  generateBundle(_, files) {
    for (const file of Object.values(files)) if (file.name === "bin") file.code = file.code.replace(/^#!.*\n/, (line) => line + checkNode);
  },
};

/** Webpack warns of each import of a package that is not installed, unless a comment says to ignore it. */
const optionalPackages = {
  name: "optional-packages",
  generateBundle(_, files) {
    const imported = new RegExp(`\\bimport\\((?=["'\`](?:${optionalPeers.join("|")})["'\`]\\))`, "gu");
    for (const file of Object.values(files))
      if (file.type === "chunk") file.code = file.code.replace(imported, "import(/* webpackIgnore: true */");
  },
};

/**
 * Packages of the library that are CommonJS only require modules of Node. Rolldown gives them a `require` that is made
 * from import.meta.url, which is undefined if a user's bundler turns the ES modules into CommonJS.
 */
const requireOfNode = {
  name: "require-of-node",
  generateBundle(_, files) {
    const runtime = Object.values(files).filter(({ code = "" }) => code.includes("createRequire(import.meta.url)"));
    if (runtime.length !== 1) throw new Error(`createRequire is in ${runtime.length} files of the library, not in one`);
    runtime[0].code = runtime[0].code
      .replace(/import\s*\{\s*createRequire\s*\}\s*from\s*["']node:module["'];/u, "")
      .replace("createRequire(import.meta.url)", "process.getBuiltinModule");
  },
};

/** A file with these modules and all that they need, apart from what a group with a higher priority has. */
const group = (name, priority, starts) => ({ name, priority, test: (id) => starts.includes(id) });
