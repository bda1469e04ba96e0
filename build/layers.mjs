// The allowed imports between the folders of src/. This table is their only definition: `npm run
// lint` checks it (node build/layers.mjs), and test/architecture.test.ts tests the check.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * From top to bottom. A folder or file may import itself, everything in the layers below, and the
 * folders in `besides`.
 */
export const layers = [
  [
    "bin.ts",
    "compile-cache.ts",
    "first-process.ts",
    "prebuilt-help.ts",
    "cli.ts",
    "cli-commands.ts",
    "cli-help.ts",
    "cli-options.ts",
    "index.ts",
  ],
  ["commands", "ci", "mcp", "controller"],
  ["cli"],
  ["operations"],
  ["forge", "doctor", "protection/register", "import", "snapshot", "drift"],
  ["apply"],
  ["engine"],
  ["policies"],
  ["kinds", "records", "service", "render", "manifests", "protection/classification", "protection/impact"],
  ["protection/catalog"],
  ["yaml", "text", "git"],
  ["model"],
];

/** Imports within one layer that are allowed, always in one direction. */
const besides = new Map([
  ["bin.ts", ["compile-cache.ts", "first-process.ts", "prebuilt-help.ts", "cli.ts"]],
  ["cli.ts", ["cli-commands.ts", "cli-help.ts", "cli-options.ts"]],
  ["cli-commands.ts", ["cli-options.ts"]],
  ["yaml", ["text"]],
  // Reading a manifest needs its kind; reports group items by kind.
  ["manifests", ["kinds", "protection/classification", "protection/impact"]],
  ["protection/classification", ["kinds"]],
  ["protection/impact", ["kinds", "protection/classification"]],
  ["render", ["kinds"]],
]);

/**
 * The embedded service replaces the real one: it imports nothing from dimsync, and only these files
 * start it.
 */
const startsEmbedded = ["commands", "operations", "index.ts"];

/** Each parses, calls operations and prints; none passes data to another one. */
const doors = new Set(["commands", "ci", "mcp", "controller", "index.ts"]);

/**
 * What `commands`, `ci` and `mcp` import, besides their own files: folders, and single files. Everything else of the account and the project is an
 * operation. Those in the second line are left: loading and the types of projects and options, the names of kinds and guards, files that are
 * replaced, and git for `init` and pull requests.
 */
const doorImports = [
  ...["cli", "operations", "render", "model", "text", "yaml", "forge", "embedded"],
  ...["manifests", "git", "engine/exit-codes.ts", "engine/session.ts", "engine/checks/guards.ts", "kinds/manifests.ts"],
  ...["records/files/atomic.ts", "drift/notify.ts"],
];
const commandDoors = new Set(["commands", "ci", "mcp"]);

/** The folders of `protection` serve different layers: manifests read labels, and registers read accounts. */
const top = (path) => /^(?:protection\/)?[^/]+/u.exec(path)[0];
const layerOf = (name) => layers.findIndex((names) => names.includes(name));

/** Why one file must not import another, both relative to src/; undefined if it may. */
export function refusal(file, imported) {
  const [from, to] = [top(file), top(imported)];
  if (from === to) return otherKind(file, imported);
  if (kindOf(imported) !== undefined) return `only ${kindDoors.join(" and ")} import a kind`;
  if (from === "embedded") return "embedded imports nothing from dimsync";
  if (to === "embedded") return startsEmbedded.includes(from) ? undefined : `only ${startsEmbedded.join(", ")} start the embedded service`;
  if (doors.has(from) && doors.has(to)) return `${from} and ${to} are doors, and no door imports another one`;
  if (commandDoors.has(from) && !doorImports.some((name) => imported === name || to === name))
    return `${from} gets what ${to} does from operations`;
  const [above, below] = [layerOf(from), layerOf(to)];
  if (above < 0 || below < 0) return `${above < 0 ? from : to} is in no layer of build/layers.mjs`;
  if (above < below || besides.get(from)?.includes(to)) return undefined;
  return above === below ? `${from} and ${to} are in the same layer` : `${to} is above ${from}`;
}

/** The registry of all kinds, and what is shared of the one that has schemas. */
const kindDoors = ["kinds/index.ts", "kinds/schemas.ts"];

/** A kind imports no other kind, and shared files import no kind. */
function otherKind(file, imported) {
  const [from, to] = [kindOf(file), kindOf(imported)];
  if (to === undefined || from === to || kindDoors.includes(file)) return undefined;
  return from === undefined ? "files shared by all kinds import no kind" : "a kind imports no other kind";
}

const kindOf = (path) => /^kinds\/(?!patterns\/)([^/]+)\//u.exec(path)?.[1];

/** Every import of a .ts file below `folder`: { file, specifier, imported? }, paths relative to `folder`. */
export function importsIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const found = text.matchAll(/^(?:import|export)\b[^"';]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gmu);
      return [...found].map(([, named, effect, lazy]) => {
        const specifier = named ?? effect ?? lazy;
        const imported = specifier.startsWith(".") ? posix.normalize(posix.join(dirname(file), specifier)) : undefined;
        return { file, specifier, imported };
      });
    });
}

/** Forbidden imports below `folder`, one line each. */
export const refusals = (folder) =>
  importsIn(folder).flatMap(({ file, imported }) => {
    const why = imported === undefined ? undefined : refusal(file, imported);
    return why === undefined ? [] : [`src/${file} imports src/${imported}: ${why}`];
  });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = refusals(fileURLToPath(new URL("../src", import.meta.url)));
  for (const line of found) console.error(line);
  process.exitCode = found.length > 0 ? 1 : 0;
}
