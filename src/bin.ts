#!/usr/bin/env node
import * as nodeModule from "node:module";
import { printPrebuilt } from "./prebuilt-help.ts";

const argv = process.argv.slice(2);
if (!printPrebuilt(argv)) {
  // Node 22 keeps compiled code between runs; Node 20 has no such call, and a named import of it would fail there.
  (nodeModule as { readonly enableCompileCache?: () => void }).enableCompileCache?.();
  const { run } = await import("./run.ts");
  await run(argv);
}
