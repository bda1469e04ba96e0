#!/usr/bin/env node
import { compileCacheFolder } from "./compile-cache.ts";
import { printPrebuilt } from "./prebuilt-help.ts";

const argv = process.argv.slice(2);
if (!printPrebuilt(argv)) {
  // Node 22 keeps compiled code between runs; Node 20 has no such call.
  const { enableCompileCache } = process.getBuiltinModule("node:module") as { readonly enableCompileCache?: (folder: string) => void };
  const folder = enableCompileCache === undefined ? undefined : compileCacheFolder(process.env);
  if (folder !== undefined) enableCompileCache?.(folder);
  // The bundle is CommonJS, which has no top-level await.
  void import("./cli.ts").then(({ run }) => run(argv));
}
