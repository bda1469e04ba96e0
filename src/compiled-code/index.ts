import { existsSync } from "node:fs";
import Module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../records/files/cache-folder.ts";
import { useCompiledFiles } from "./loader.ts";

/**
 * Lets this run use the code that an earlier one compiled, and keep what it compiles itself: with the compile cache of Node.js 22,
 * or with our own on Node.js 20. NODE_DISABLE_COMPILE_CACHE turns both off.
 */
export function useCompiledCode(argv: readonly string[]): void {
  const { env } = process;
  const folder = env["NODE_DISABLE_COMPILE_CACHE"] === undefined ? cacheFolder("compiled", env) : undefined;
  if (folder === undefined) return;
  const { enableCompileCache } = Module as { readonly enableCompileCache?: (folder: string) => void };
  if (enableCompileCache !== undefined) enableCompileCache(folder);
  else if (process.versions.node.startsWith("20.")) {
    const lib = dirname(fileURLToPath(import.meta.url));
    const command = argv.find((word) => isCommand(word, lib));
    // The machines of CI jobs are thrown away: writing the file there would only take time.
    if (command !== undefined) useCompiledFiles(lib, join(folder, `${command}.node20`), { keepsMore: !env["CI"] });
  }
}

/** Whether the word is a command: then a help text exists for it. If the value of an option is taken for a command, the files of two commands get mixed, which does no harm. */
const isCommand = (word: string, lib: string): boolean => /^[a-z][a-z-]*$/u.test(word) && existsSync(join(lib, "../help", `${word}.txt`));
