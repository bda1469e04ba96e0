// The allowed imports between the folders of src/. This table is their only definition: `npm run
// lint` checks it (node build/layers.mjs), and test/architecture.test.ts tests the check.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * From top to bottom. A folder or file may import itself, the index.ts of every folder in the layers below, and of
 * those in `besides`.
 */
export const layers = [
  ["bin.ts", "index.ts"],
  ["cli/cli.ts", "cli/commands.ts"],
  ["features"],
  ["cli"],
  ["core/operations"],
  ["core/drift", "core/drift/accept", "core/operations/forge"],
  ["core/apply"],
  ["core/plan"],
  ["core/columns/policies"],
  ["core/kinds", "core/records", "core/service", "core/render", "core/manifests", "core/columns/labels"],
  ["core/columns/catalog"],
  ["core/base/yaml", "core/base/text", "core/base/git", "core/base/http"],
  ["core/base/model"],
];

/** Imports within one layer that are allowed, always in one direction. */
const besides = new Map([
  ["cli/cli.ts", ["cli/commands.ts"]],
  ["core/base/yaml", ["core/base/text"]],
  // Reading a manifest needs its kind; reports group items by kind.
  ["core/manifests", ["core/kinds", "core/columns/labels"]],
  ["core/columns/labels", ["core/kinds"]],
  ["core/render", ["core/kinds"]],
  ["core/drift/accept", ["core/drift"]],
]);

/** The embedded service replaces the real one: it imports nothing of dimsync, and only these start it. */
const startsEmbedded = ["features", "core/operations", "index.ts"];

/** Where a path belongs in the table: the longest name there that it is or is below, else its folder of the core, or its first folder. */
function top(path) {
  const named = layers.flat().filter((name) => path === name || path.startsWith(`${name}/`));
  return named.sort((a, b) => b.length - a.length)[0] ?? /^(?:core\/)?[^/]+/u.exec(path)[0];
}

const layerOf = (name) => layers.findIndex((names) => names.includes(name));
const featureOf = (path) => /^features\/([^/]+)\//u.exec(path)?.[1];

/** Why one file must not import another, both relative to src/; undefined if it may. */
export function refusal(file, imported) {
  const [from, to] = [top(file), top(imported)];
  if (from === "features" && to === "features")
    return featureOf(file) === featureOf(imported) ? undefined : "no feature imports another one";
  if (from === to) return otherKind(file, imported);
  if (kindOf(imported) !== undefined) return `only ${kindDoors.join(" and ")} import a kind`;
  if (from === "embedded") return "embedded imports nothing of dimsync";
  if (to === "embedded") return startsEmbedded.includes(from) ? undefined : `only ${startsEmbedded.join(", ")} start the embedded service`;
  const [above, below] = [layerOf(from), layerOf(to)];
  if (above < 0 || below < 0) return `${above < 0 ? from : to} is in no layer of build/layers.mjs`;
  if (above < below || besides.get(from)?.includes(to))
    return isDoor(to, imported) ? undefined : `other folders import only index.ts of ${to}`;
  return above === below ? `${from} and ${to} are in the same layer` : `${to} is above ${from}`;
}

/** Other folders import a folder of the core by its index.ts. The base has none: each of its files stands for itself. */
const isDoor = (folder, path) => !/^core\/(?!base\/)/u.test(folder) || path.endsWith("/index.ts");

/** The registry of all kinds, and what is shared of the one that has schemas. */
const kindDoors = ["core/kinds/index.ts", "core/kinds/schemas.ts"];

/** A kind imports no other kind, and shared files import no kind. */
function otherKind(file, imported) {
  const [from, to] = [kindOf(file), kindOf(imported)];
  if (to === undefined || from === to || kindDoors.includes(file)) return undefined;
  return from === undefined ? "files shared by all kinds import no kind" : "a kind imports no other kind";
}

const kindOf = (path) => /^core\/kinds\/(?!patterns\/)([^/]+)\//u.exec(path)?.[1];

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

/** What test/promises may import of src/: the library, and the account of the embedded service. */
const doors = ["src/index.ts", "src/embedded/index.ts"];

/**
 * Imports of other files of src/ by test/promises, and by the files of test/ that it imports, one line each. Its oracles judge dimsync
 * from outside, so they must not use a part of it.
 */
export function promiseRefusals(root) {
  const imports = importsIn(join(root, "test")).flatMap(({ file, imported }) =>
    imported === undefined ? [] : [{ file: posix.join("test", file), imported: posix.join("test", imported) }],
  );
  const reached = new Set(imports.map(({ file }) => file).filter((file) => file.startsWith("test/promises/")));
  for (const file of reached)
    for (const one of imports) if (one.file === file && one.imported.startsWith("test/")) reached.add(one.imported);
  return imports
    .filter(({ file, imported }) => reached.has(file) && imported.startsWith("src/") && !doors.includes(imported))
    .map(({ file, imported }) => `${file} imports ${imported}: test/promises only imports ${doors.join(" and ")}`);
}

/** Exports of src/ that no other file imports, one line each. Tests, documents and benchmarks count, too. */
export function unusedExports(root) {
  const folders = ["src", "test", "docs", "bench"];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => posix.join(folder, file.replaceAll("\\", "/"))),
  );
  const texts = new Map(
    files.filter((file) => /(?<!\.d)\.m?ts$|\.mjs$/u.test(file)).map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );
  /** By file, the words of the files that import it. */
  const named = new Map();
  /** Files of which everything is exported again. */
  const whole = new Set(["src/index.ts"]);
  for (const [file, text] of texts)
    for (const [, all, specifier] of text.matchAll(/(\* from )?["'](\.\.?\/[^"']+\.ts)["']/gu)) {
      const imported = posix.normalize(posix.join(dirname(file), specifier));
      if (all !== undefined) whole.add(imported);
      named.set(imported, `${named.get(imported) ?? ""} ${text}`);
    }
  return [...texts].flatMap(([file, text]) => {
    if (!file.startsWith("src/") || whole.has(file)) return [];
    const declared = [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gmu)].map(([, name]) => name);
    const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gmu)].flatMap(([, names]) => names.match(/\w+(?=\s*(?:,|$))/gu) ?? []);
    const words = new Set(named.get(file)?.match(/\w+/gu));
    return [...declared, ...listed].filter((name) => !words.has(name)).map((name) => `${file} exports ${name}, which nothing imports`);
  });
}

/** Types of one name that two files of `folder` export: a reader who searches for it must find one. */
export function sharedTypeNames(folder) {
  const files = new Map();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".ts")))
    for (const [, name] of readFileSync(join(folder, file), "utf8").matchAll(/^export (?:declare )?(?:interface|type|class|enum) (\w+)/gmu))
      files.set(name, [...(files.get(name) ?? []), file.replaceAll("\\", "/")]);
  return [...files].flatMap(([name, all]) => (all.length > 1 ? [`${all.sort().join(" and ")} export a type ${name}`] : []));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const found = [...refusals(join(root, "src")), ...promiseRefusals(root), ...unusedExports(root), ...sharedTypeNames(join(root, "src"))];
  for (const line of found) console.error(line);
  process.exitCode = found.length > 0 ? 1 : 0;
}
