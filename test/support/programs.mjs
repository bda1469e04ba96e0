import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

// The programs that some tests need besides Node and git. Tests (programs.ts), .ci/run and the workflows
// use this list, also before `npm ci`:
//
//   node test/support/programs.mjs            prints the Debian packages of those that are not installed
//   node test/support/programs.mjs --names    prints the names of all
//   node test/support/programs.mjs --paths    prints the paths of those that are installed

/**
 * `commands`: each of them is the program. `folder`: where to look before PATH; of `*`, the highest
 * number comes first. `variable`: the path from an environment variable. `trial`: arguments with which
 * it must succeed, because other systems have another program of that name.
 */
export const programs = {
  chromium: {
    title: "Chromium",
    package: "chromium",
    commands: ["chromium", "chromium-browser", "google-chrome"],
    variable: "CHROME_PATH",
  },
  postgresql: { title: "PostgreSQL", package: "postgresql", commands: ["initdb"], folder: "/usr/lib/postgresql/*/bin" },
  pgbouncer: { title: "PgBouncer", package: "pgbouncer", commands: ["pgbouncer"], folder: "/usr/sbin" },
  sshd: { title: "The OpenSSH server", package: "openssh-server", commands: ["sshd"], folder: "/usr/sbin" },
  curl: { title: "curl", package: "curl", commands: ["curl", "curl.exe"] },
  bash: { title: "Bash", package: "bash", commands: ["bash", "bash.exe"] },
  zsh: { title: "zsh", package: "zsh", commands: ["zsh"] },
  fish: { title: "fish", package: "fish", commands: ["fish"] },
  promtool: { title: "promtool", package: "prometheus", commands: ["promtool"] },
  script: { title: "script", package: "bsdutils", commands: ["script"], trial: ["-qec", "true", "/dev/null"] },
  "systemd-analyze": { title: "systemd-analyze", package: "systemd", commands: ["systemd-analyze"] },
};

const names = Object.keys(programs);

/** Names of programs that are not used although they may be installed; "none": no test may be skipped for a missing program. */
export const without = (process.env.DIMSYNC_TESTS_WITHOUT ?? "").split(",").filter((name) => name !== "");

const unknown = without.filter((name) => name !== "none" && !names.includes(name));
if (unknown.length > 0) throw new Error(`DIMSYNC_TESTS_WITHOUT: ${unknown.join(", ")} must be one of ${names.join(", ")}, none.`);

/** The full path of a program; undefined if it is not installed, or in DIMSYNC_TESTS_WITHOUT. */
export function pathOf(name) {
  if (!paths.has(name)) paths.set(name, without.includes(name) ? undefined : search(name));
  return paths.get(name);
}

const paths = new Map();

/** Like `pathOf`. Throws if the program is not installed. */
export function program(name) {
  const path = pathOf(name);
  if (path === undefined) throw new Error(`${name} is not installed. Pass needs("${name}") to the test or its suite.`);
  return path;
}

function search(name) {
  const { commands, folder = "", variable = "", trial } = programs[name];
  const folders = [...versionsOf(folder), ...(process.env.PATH ?? "").split(delimiter)].filter((one) => one !== "");
  const places = [process.env[variable] ?? "", ...commands.flatMap((command) => folders.map((one) => join(one, command)))];
  return places.find((path) => path !== "" && isExecutable(path) && (trial === undefined || succeeds(path, trial)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const succeeds = (path, args) => spawnSync(path, args, { stdio: "ignore" }).status === 0;

/** `/usr/lib/postgresql/*\/bin` is a folder for each version, the newest one first. */
function versionsOf(folder) {
  const [root, rest] = folder.split("*");
  if (rest === undefined) return [folder];
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, rest));
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--names")) console.log(names.join(","));
  else if (process.argv.includes("--paths")) console.log(names.flatMap((name) => pathOf(name) ?? []).join("\n"));
  else console.log(names.flatMap((name) => (pathOf(name) === undefined ? [programs[name].package] : [])).join(" "));
}
