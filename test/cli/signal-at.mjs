// Preloaded into the command line (node --import signal-at.mjs?read=NAME): at the first read of a file of that name, a SIGINT arrives, in the middle of
// synchronous work. `after=PATH`: at the first read once that file exists. `printed=TEXT` instead of `read`: when that text is printed on stderr.
// `to=parent`: the parent process gets it. `blocked=MS`: how long the work lasts.
import { createRequire, syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";

const fs = createRequire(import.meta.url)("node:fs");
const { searchParams } = new URL(import.meta.url);
const [read, after, printed, to, blocked] = ["read", "after", "printed", "to", "blocked"].map((name) => searchParams.get(name));
let isSent = false;

function signal() {
  isSent = true;
  process.kill(to === "parent" ? process.ppid : process.pid, "SIGINT");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blocked ?? 500));
}

const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
  if (!isSent && basename(String(path)) === read && (after === null || fs.existsSync(after))) signal();
  return readFileSync(path, ...rest);
};
syncBuiltinESMExports();
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = (bytes, ...rest) => {
  const done = write(bytes, ...rest);
  if (!isSent && printed !== null && String(bytes).includes(printed)) signal();
  return done;
};
