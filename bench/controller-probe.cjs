// Loaded into a measured controller (--require), with --expose-gc: after SIGUSR2, writes its memory after a
// garbage collection, and the processor time that the embedded database and these garbage collections took
// in this process, to the file that BENCH_PROBE names.
const { renameSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { pathToFileURL } = require("node:url");

let databaseUs = 0;
let forcedUs = 0;
/** The processor time since `before`, in microseconds. */
function usedSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
async function watchEmbedded() {
  const file = createRequire(process.argv[1])
    .resolve("@electric-sql/pglite")
    .replace(/\.cjs$/, ".js");
  const { PGlite } = await import(pathToFileURL(file).href);
  const original = PGlite.prototype.execProtocolRawSync;
  PGlite.prototype.execProtocolRawSync = function (...args) {
    const before = process.cpuUsage();
    try {
      return original.apply(this, args);
    } finally {
      databaseUs += usedSince(before);
    }
  };
}
if (process.env.BENCH_EMBEDDED) void watchEmbedded();

process.on("SIGUSR2", () => {
  const before = process.cpuUsage();
  globalThis.gc();
  globalThis.gc();
  forcedUs += usedSince(before);
  const { heapUsed, external } = process.memoryUsage();
  const file = process.env.BENCH_PROBE;
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ heapMib: (heapUsed + external) / 2 ** 20, databaseMs: databaseUs / 1000, forcedMs: forcedUs / 1000 }),
  );
  renameSync(`${file}.new`, file);
});
