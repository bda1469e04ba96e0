// Folders of the core import each other by index.ts. A bundler puts all that such a file names into one chunk, however
// little of it is used, so that `validate` would load what only `plan` needs. The bundles import each name from the file
// that defines it.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const importsOfIndex = /^(import|export) (type )?\{([^}]*)\} from "([^"]*\/index\.ts)";$/gmu;
/** `(await import("…/index.ts")).name` */
const loadsOfIndex = /\bimport\("([^"]*\/index\.ts)"\)\)\.(\w+)/gu;
/** `const { name, other } = await import("…/index.ts")` */
const namesOfIndex = /\{ ([\w, ]+) \} = await import\("([^"]*\/index\.ts)"\)/gu;
const passedOn = /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gmu;

/** Rolldown plugin. */
export const directImports = {
  name: "direct-imports",
  transform(code, id) {
    if (!id.endsWith(".ts") || !code.includes('/index.ts"')) return undefined;
    const fileOf = (path, name) => definedIn(resolve(dirname(id), path), name);
    const single = (path, names) => {
      const files = new Set(names.map((name) => fileOf(path, name)));
      return files.size === 1 ? [...files][0] : path;
    };
    return {
      code: code
        .replaceAll(importsOfIndex, (whole, word, type = "", names, path) =>
          listOf(names)
            .map((one) => `${word} ${type}{ ${one} } from ${JSON.stringify(fileOf(path, nameIn(one)))};`)
            .join(" ")
            .concat("\n".repeat(whole.split("\n").length - 1)),
        )
        .replaceAll(loadsOfIndex, (_, path, name) => `import(${JSON.stringify(fileOf(path, name))})).${name}`)
        .replaceAll(namesOfIndex, (_, names, path) => `{ ${names} } = await import(${JSON.stringify(single(path, listOf(names)))})`),
      map: null,
    };
  },
};

/** The file that defines a name which `file` exports. */
function definedIn(file, name) {
  for (const [, names, path] of readFileSync(file, "utf8").matchAll(passedOn))
    if (listOf(names).some((one) => nameIn(one) === name)) return definedIn(resolve(dirname(file), path), name);
  return file;
}

const listOf = (names) => names.split(",").flatMap((one) => one.trim() || []);
const nameIn = (one) => one.replace(/^type /u, "").split(" as ")[0];
