import { setFlagsFromString } from "node:v8";

/**
 * undici's HTTP parser is one large WebAssembly function. V8 keeps a core busy for a tenth of a second to optimise it, which a run of seconds never gets
 * back: a plan of 50 integrations took a third longer for it. So V8 optimises it only in long runs. For this process only, so not for the library; and
 * only where V8 is known to have the flag, since it prints an error for others.
 */
export function spareCoreFromWasm(): void {
  if (process.versions.v8.startsWith("11.3.")) setFlagsFromString("--wasm-tiering-budget=1000000000");
}
