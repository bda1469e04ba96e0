#!/usr/bin/env node
import * as nodeModule from "node:module";

// Node 22 keeps compiled code between runs; Node 20 has no such call, and a named import of it would fail there.
(nodeModule as { readonly enableCompileCache?: () => void }).enableCompileCache?.();

const { main } = await import("./cli.ts");
const { processIo } = await import("./commands/io.ts");
process.exitCode = await main(process.argv.slice(2), processIo());
