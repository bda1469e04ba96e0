// Preloaded into the built command line. Optimizing the embedded database takes half of the processor time of its start.
// Node 20 cannot keep compiled code itself: a third of the processor time of a start. The code is in the folder
// NODE_COMPILE_CACHE, which is only for tests: it is trusted.
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { basename, dirname, join } = require("node:path");
const { cachedDataVersionTag, setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");

setFlagsFromString("--liftoff-only");

const folder = process.env.NODE_COMPILE_CACHE;
const added = new Map();
/** V8 rejects code that was compiled with other flags. */
const flags = cachedDataVersionTag();

function kept(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Kept code cannot import ES modules itself. */
const importFor = (specifier) => import(specifier);

// Jobs also start npm. Node keeps compiled code from 22.8 on.
if (!("enableCompileCache" in Module) && folder && basename(process.argv[1] ?? "") === "bin.cjs")
  Module.prototype._compile = function compile(content, filename) {
    const code = content.replace(/^#!.*/u, "").replaceAll(/\bimport\(/gu, "importFor(");
    const file = join(folder, `${createHash("sha1").update(code).digest("hex")}-${flags}`);
    const cachedData = kept(file);
    const script = new Script(`(function (exports, require, module, __filename, __dirname, importFor) {${code}\n})`, {
      filename,
      cachedData,
    });
    if (cachedData === undefined) added.set(file, script);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, Module.createRequire(filename), this, filename, dirname(filename), importFor);
  };

process.on("exit", () => {
  if (added.size === 0) return;
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, script] of added) {
      writeFileSync(`${file}.${process.pid}`, script.createCachedData());
      renameSync(`${file}.${process.pid}`, file);
    }
  } catch {
    // The folder was removed, or the process may not write to it.
  }
});
