#!/usr/bin/env node
import { join } from "node:path";
import { requireCached } from "./code-cache.ts";
import { printPrebuilt } from "./prebuilt-help.ts";

/** The file of the command line beside this one; its name holds a digest of its content. Put in by the build. */
declare const DIMSYNC_RUN: string;

// CommonJS, in contrast to everything else: Node starts it 4 ms sooner, and Node 20 can keep compiled code of it.
const argv = process.argv.slice(2);
if (!printPrebuilt(argv)) {
  // What src/run.ts exports.
  const { run } = requireCached(join(__dirname, DIMSYNC_RUN)) as typeof import("./run.ts");
  void run(argv);
}
