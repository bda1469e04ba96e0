// The health check of the image: exits with 0 if the container is healthy. Of `dimsync controller`, it asks /healthz
// at the address of --listen: a restart does not help an account that fails. The command line is that of process 1,
// which is `init` with the same arguments if the container has one.
const { readFileSync } = require("node:fs");

const args = readFileSync(process.argv[2] ?? "/proc/1/cmdline", "utf8").split("\0");
const after = (flag) =>
  args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : arg.startsWith(`${flag}=`) ? [arg.slice(flag.length + 1)] : []));

if (args.includes("controller")) {
  const [listen = "127.0.0.1:8480"] = after("--listen");
  // An address of all interfaces is none to connect to.
  const address = listen.replace(/^0\.0\.0\.0:/u, "127.0.0.1:").replace(/^\[::\]:/u, "[::1]:");
  fetch(`http://${address}/healthz`).then(
    ({ status }) => {
      process.exitCode = status === 200 ? 0 : 1;
    },
    ({ cause, message }) => {
      console.error(`/healthz of ${address}: ${cause?.message ?? message}`);
      process.exitCode = 1;
    },
  );
}
