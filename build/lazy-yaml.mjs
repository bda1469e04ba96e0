// `yaml` costs 10 ms to read and evaluate, and the fast path (src/manifests/plain-yaml.ts) makes it needless in most runs. Code that uses it is
// synchronous, which rules import() out. So the library goes into a CommonJS file of its own, and the bundles get stand-ins that load it when one
// is first used.
import { build } from "esbuild";
import * as yaml from "yaml";

/** esbuild plugin: `import … from "yaml"` gives the stand-ins. Bundles must lie in the folder of `yaml.cjs`. */
export const lazyYaml = {
  name: "lazy-yaml",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^yaml$/ }, () => ({ path: "yaml", namespace: "lazy-yaml", sideEffects: false }));
    onLoad({ filter: /.*/, namespace: "lazy-yaml" }, () => ({ contents: standIns(), loader: "js" }));
  },
};

/** Writes the library as `yaml.cjs` into a folder. */
export async function buildYaml(root, folder, options) {
  await build({
    ...options,
    stdin: { contents: 'module.exports = require("yaml");', resolveDir: root },
    outfile: `${folder}/yaml.cjs`,
    format: "cjs",
    minify: true,
  });
}

function standIns() {
  const names = Object.entries(yaml).flatMap(([name, member]) => (typeof member === "function" ? [name] : []));
  return `import { createRequire } from "node:module";
let loaded;
const library = () => (loaded ??= createRequire(import.meta.url)("./yaml.cjs"));
const standIn = (name) => new Proxy(function () {}, {
  apply: (_, self, args) => Reflect.apply(library()[name], self, args),
  construct: (_, args) => Reflect.construct(library()[name], args),
  get: (_, key) => library()[name][key],
});
${names.map((name) => `export const ${name} = /* @__PURE__ */ standIn("${name}");`).join("\n")}`;
}
