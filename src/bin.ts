#!/usr/bin/env node
import { printPrebuilt } from "./prebuilt-help.ts";

const argv = process.argv.slice(2);
if (!printPrebuilt(argv)) {
  // The bundle is CommonJS, which has no top-level await.
  void import("./compile-cache.ts")
    .then(({ useCompileCache }) => useCompileCache(process.env))
    .then(() => import("./cli.ts"))
    .then(({ run }) => run(argv));
}
