import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { restoreWasmTiering } from "./service/wasm-tiering.ts";

/**
 * Loads a CommonJS file by its absolute path, and keeps its compiled code for the next run, since compiling is the larger part of a short one. Node 22 has
 * that built in. For Node 20 the code is kept beside the file, by the versions of V8 and the kind of processor: whoever can write there could change
 * the file itself, which is not so in a temporary folder. Where the folder can't be written to there is no cache. V8 compares little more than the
 * length of the source, so the name of the file has to change with its content. In code from a cache, import() fails; the build replaces it by
 * `__import`, which is put here.
 */
export function requireCached(file: string): unknown {
  const load = nodeModule.createRequire(file);
  Object.assign(globalThis, { [Symbol.for("dimsync.import")]: (specifier: string): Promise<unknown> => import(specifier) });
  const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => void };
  if (enableCompileCache !== undefined) {
    enableCompileCache();
    return load(file);
  }
  const cacheFile = `${file}.${process.versions.v8}-${process.arch}.cache`;
  const cachedData = readIfThere(cacheFile);
  const script = new Script(nodeModule.Module.wrap(readFileSync(file, "utf8")), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module: { readonly exports: unknown } = { exports: {} };
  script.runInThisContext()(module.exports, load, module, file, dirname(file));
  // At the end, when the functions that a run takes have been compiled.
  if (cachedData === undefined || script.cachedDataRejected === true) process.once("exit", () => keep(script, cacheFile, load));
  return module.exports;
}

function keep(script: Script, cacheFile: string, load: NodeJS.Require): void {
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    // V8 takes code from a cache only under the flags that it was made with.
    restoreWasmTiering((load("node:v8") as typeof import("node:v8")).setFlagsFromString);
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, cacheFile);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
