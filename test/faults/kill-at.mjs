// Preloaded into the command line (node --import kill-at.mjs?at=N): kills the process with SIGKILL at the Nth operation that changes a file, counted from
// 1, before it is carried out. `torn=1`: a write is carried out for half of its bytes first. `full=1`: the process lives, and from the Nth operation on the
// disk is full. At a normal end, stderr has a line for each operation, such as "operation: rename dimsync.bindings.yaml".
import { createRequire, syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";

const fs = createRequire(import.meta.url)("node:fs");
const { searchParams } = new URL(import.meta.url);
const at = Number(searchParams.get("at"));
const torn = searchParams.get("torn") === "1";
const full = searchParams.get("full") === "1";
let count = 0;
const operations = [];
const pathOf = new Map();

function die() {
  process.kill(process.pid, "SIGKILL");
  // Nothing must run before the signal arrives.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Notes the operation, and returns whether the process dies at it. */
function isNth(operation, path) {
  operations.push(`${operation} ${basename(String(path))}`);
  return ++count === at && !full;
}
const refuseIfFull = () => {
  if (full && count >= at)
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28, syscall: "write" });
};
const half = (data) => Buffer.from(data).subarray(0, Math.floor(Buffer.from(data).length / 2));

const promises = fs.promises;
for (const name of ["rename", "link", "unlink", "truncate", "copyFile", "mkdir"]) {
  const original = promises[name];
  promises[name] = async (...args) => {
    if (isNth(name, args[0])) die();
    if (name === "link" || name === "mkdir" || name === "copyFile") refuseIfFull();
    return original(...args);
  };
}
const writeFile = promises.writeFile;
promises.writeFile = async (file, data, ...rest) => {
  if (isNth("writeFile", file)) {
    if (torn) await writeFile(file, half(data), ...rest).catch(() => {});
    die();
  }
  refuseIfFull();
  return writeFile(file, data, ...rest);
};
const open = promises.open;
let patched = false;
promises.open = async (path, flags, ...rest) => {
  if (typeof flags === "string" && /[wa+]/u.test(flags) && isNth("open", path)) die();
  const handle = await open(path, flags, ...rest);
  pathOf.set(handle.fd, path);
  if (!patched) {
    patched = true;
    patchHandles(Object.getPrototypeOf(handle));
  }
  return handle;
};

const fsync = fs.fsync;
fs.fsync = (descriptor, done) => {
  if (isNth("sync", pathOf.get(descriptor))) die();
  fsync(descriptor, done);
};

function patchHandles(prototype) {
  for (const name of ["chmod", "truncate"]) {
    const original = prototype[name];
    prototype[name] = function (...args) {
      if (isNth(name, pathOf.get(this.fd))) die();
      return original.apply(this, args);
    };
  }
  for (const name of ["write", "writeFile", "appendFile"]) {
    const original = prototype[name];
    prototype[name] = async function (data, ...rest) {
      if (isNth(name, pathOf.get(this.fd))) {
        if (torn) await original.call(this, half(data), ...rest);
        die();
      }
      refuseIfFull();
      return original.call(this, data, ...rest);
    };
  }
}

syncBuiltinESMExports();
process.on("exit", () => fs.writeSync(2, operations.map((operation) => `operation: ${operation}\n`).join("")));
