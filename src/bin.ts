#!/usr/bin/env node
import { standardOutput, standardStream } from "./cli/standard-stream.ts";
import { version } from "./core/base/model/runtime/version.ts";

const argv = process.argv.slice(2);
const isVersion = argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V");
if (process.pid === 1) void import("./cli/first-process.ts").then(({ runAsChild }) => runAsChild(argv));
// Without the command line, which takes 40 ms of CPU time to load.
else if (isVersion) standardOutput(standardStream(2)).write(`${version}\n`);
else {
  // The bundle is CommonJS, which has no top-level await.
  void import("./cli/cli.ts").then(({ run }) => run(argv));
}
