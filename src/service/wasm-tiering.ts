import { setFlagsFromString } from "node:v8";

/*
 * undici's HTTP parser is one large WebAssembly function. V8 keeps a core busy for a tenth of a second to optimise it, which a run of seconds never gets back:
 * on two cores, reading 50 schemas took a third longer for it. So V8 shall optimise it in long runs only. Only where V8 is known to have the flag,
 * since it prints an error for others.
 */
const knownVersions: readonly string[] = ["11.3", "12.4", "13.6"]; // Node 20, 22 and 24
const hasFlag = knownVersions.includes(process.versions.v8.split(".", 2).join("."));
/** A hundred to a thousand times what V8 starts with. */
const budget = 1_800_000_000;

/**
 * For a process of our own, not for a library's user. Loads what the transport needs first: with changed flags Node no longer takes its own modules from
 * its cache.
 */
export async function deferWasmTiering(): Promise<void> {
  await import("undici/lib/dispatcher/pool.js");
  if (hasFlag) setFlagsFromString(`--wasm-tiering-budget=${budget}`);
}
