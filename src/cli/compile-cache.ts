import Module from "node:module";
import type { Environment } from "../core/model/settings/env.ts";
import { cacheFolder } from "../core/records/files/cache-folder.ts";

/**
 * Lets this run use the code that earlier ones compiled, if Node.js can keep it (22.8 and later). Node does not check what it
 * finds there, and its own default is a folder that other users can create. NODE_COMPILE_CACHE names another folder, and
 * NODE_DISABLE_COMPILE_CACHE turns it off.
 */
export function useCompileCache(env: Environment): void {
  // Absent in Node 20.
  const { enableCompileCache } = Module as { readonly enableCompileCache?: (folder: string) => void };
  const folder = enableCompileCache === undefined ? undefined : cacheFolder("compiled", env);
  if (folder !== undefined) enableCompileCache?.(folder);
}
