/*
 * undici's HTTP parser is one large WebAssembly function. V8 keeps a core busy for a tenth of a second
 * to optimise it, which does not pay off in a run of seconds: a plan of 50 integrations (W1) takes 512 ms
 * of CPU time with the flag, and 643 without (minimum of 11 runs in turn, Node 20). So V8 should optimise
 * it only in long runs. The flag is set only for versions that have it, because V8 prints an error for an
 * unknown flag.
 */
const knownVersions: readonly string[] = ["11.3", "12.4", "13.6"]; // Node 20, 22 and 24
const hasFlag = knownVersions.includes(process.versions.v8.split(".", 2).join("."));
const defaultBudget = 1_800_000;

/**
 * For the command line, not for users of the library. Loads the modules of the transport first: after
 * a change of flags, Node does not load its own modules from its cache.
 */
export async function deferWasmTiering(): Promise<void> {
  await import("undici/lib/dispatcher/pool.js");
  // Loading node:v8 takes milliseconds.
  if (hasFlag) process.getBuiltinModule("node:v8").setFlagsFromString(`--wasm-tiering-budget=${1000 * defaultBudget}`);
}
