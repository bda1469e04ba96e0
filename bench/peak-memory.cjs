// Loaded into a measured process (--require): writes its peak resident memory in KiB to the file
// that BENCH_PEAK names, when it ends. Uses the high-water mark of /proc, because that of getrusage
// starts with the parent's.
const { readFileSync, writeFileSync } = require("node:fs");
process.on("exit", () => {
  let kib = process.resourceUsage().maxRSS;
  try {
    kib = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {}
  writeFileSync(process.env.BENCH_PEAK, String(kib));
});
