#!/usr/bin/env node
import { printPrebuilt } from "./cli/prebuilt-help.ts";

const argv = process.argv.slice(2);
if (process.pid === 1) void import("./cli/first-process.ts").then(({ runAsChild }) => runAsChild(argv));
else if (!printPrebuilt(argv)) {
  // The bundle is CommonJS, which has no top-level await.
  void import("./cli/cli.ts").then(({ run }) => run(argv));
}
