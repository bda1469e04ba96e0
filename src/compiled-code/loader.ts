import { existsSync, readFileSync } from "node:fs";
import Module from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { Script } from "node:vm";
import { withDefaultFlags } from "../service/connection/wasm-tiering.ts";
import { type CompiledFile, readCompiledFiles, writeCompiledFiles } from "./store.ts";

interface CompiledScript {
  readonly script: Script;
  /** Undefined if its compiled code is kept already. */
  readonly source: Buffer | undefined;
}

type Require = (id: string) => unknown;
type ModuleFunction = (exports: unknown, require: Require, module: { exports: unknown }, path: string, folder: string) => void;

/** What Node.js has, and its types lack. */
interface Loader {
  readonly _extensions: Record<string, (module: NodeJS.Module, path: string) => void>;
  readonly _cache: NodeJS.Dict<NodeJS.Module>;
}

/**
 * From now on, the CommonJS files below the folder `lib` run with the compiled code that an earlier run kept in the file `kept`. With
 * `keepsMore`, what is missing there is added when this process ends, but not by the first run: a single run should not pay for it.
 */
export function useCompiledFiles(lib: string, kept: string, { keepsMore }: { readonly keepsMore: boolean }): void {
  const files = readCompiledFiles(kept);
  const scripts = files === undefined ? undefined : loadWith(files, lib);
  if (!keepsMore) return;
  process.once("exit", (exitCode) => {
    // After an error or an interruption, little was compiled.
    if (exitCode !== 0 && exitCode !== 2) return;
    const added = addedFiles(scripts ?? new Map());
    if (scripts === undefined || added.size > 0) writeCompiledFiles(kept, new Map([...filesStillIn(lib, files ?? new Map()), ...added]));
  });
}

/** Makes Node.js load the files below `lib` here. Returns the scripts by name, as they are loaded. */
function loadWith(files: ReadonlyMap<string, CompiledFile>, lib: string): ReadonlyMap<string, CompiledScript> {
  const { _extensions: extensions, _cache: cache } = Module as unknown as Loader;
  const modules = new Map<string, { exports: unknown }>();
  const scripts = new Map<string, CompiledScript>();
  const requireOther = Module.createRequire(join(lib, "index.cjs"));

  // Node.js resolves each path with several system calls, which the program's own files do not need.
  const requireFrom =
    (folder: string): Require =>
    (id) =>
      id.startsWith("./") && id.endsWith(".cjs") ? load(join(folder, id)) : requireOther(id);

  const load = (path: string): unknown => (modules.get(path) ?? cache[path] ?? start(path)).exports;

  function start(path: string): { readonly exports: unknown } {
    const source = readFileSync(path);
    return isKeepable(source) ? run(path, source, { exports: {} }) : { exports: requireOther(path) };
  }

  function run(path: string, source: Buffer, module: { exports: unknown }): { readonly exports: unknown } {
    modules.set(path, module);
    const [name, folder] = [relative(lib, path), dirname(path)];
    const compiled = compile(path, source, files.get(name));
    scripts.set(name, compiled);
    (compiled.script.runInThisContext() as ModuleFunction)(module.exports, requireFrom(folder), module, path, folder);
    return module;
  }

  const byDefault = extensions[".js"];
  extensions[".cjs"] = (module, path) => {
    const source = path.startsWith(lib + sep) ? readFileSync(path) : undefined;
    if (source !== undefined && isKeepable(source)) run(path, source, module);
    else byDefault?.(module, path);
  };

  return scripts;
}

/** V8 cannot run `import()` in a script that it did not compile itself. */
const isKeepable = (source: Buffer): boolean => !source.includes("import(");

const [head, tail] = ["(function (exports, require, module, __filename, __dirname) {", "\n})"];

function compile(path: string, source: Buffer, kept: CompiledFile | undefined): CompiledScript {
  const cachedData = kept?.source.equals(source) === true ? kept.code : undefined;
  const options = { filename: path, columnOffset: -head.length };
  const text = head + source.toString("utf8") + tail;
  const script = withDefaultFlags(() => new Script(text, cachedData === undefined ? options : { ...options, cachedData }));
  return { script, source: cachedData === undefined || script.cachedDataRejected === true ? source : undefined };
}

/** What this process compiled, with the functions that it used. */
const addedFiles = (scripts: ReadonlyMap<string, CompiledScript>): Map<string, CompiledFile> =>
  new Map(
    [...scripts].flatMap(([name, { script, source }]) =>
      source === undefined ? [] : [[name, { source, code: withDefaultFlags(() => script.createCachedData()) }]],
    ),
  );

/** Without those of another version, whose names differ. */
const filesStillIn = (lib: string, files: ReadonlyMap<string, CompiledFile>): readonly (readonly [string, CompiledFile])[] =>
  [...files].filter(([name]) => existsSync(join(lib, name)));
