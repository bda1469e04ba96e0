// Some modules cost milliseconds to load and most runs never use them: `yaml` 10 (only
// for documents that are edited), `picomatch` 3, `string-width` 20 (Intl.Segmenter),
// node:crypto 3, node:child_process 1. The code that uses them is synchronous, which rules import()
// out. So the bundles get stand-ins for their functions that load the module when the first of them
// is used: `validate` takes 103 ms of CPU time, and 155 without them (minimum of 13 runs in turn).
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
/** The packages among them: each must be a file NAME.cjs beside the bundles. */
export const lazyPackages = ["yaml", "picomatch", "string-width"];
const lazyModules = [...lazyPackages, "node:crypto", "node:child_process"];
/** Files that the bundles in lib/ load when they are needed: stand-ins' packages, validators; and JSON Schemas. */
const besideBundles = /^\.\/(?:yaml|picomatch|string-width)\.cjs$|^\.\/validators\/[\w-]+\.generated\.cjs$/u;
/** From src/core/manifests/. */
const schemas = "../../../schema/";
const prefix = "\0lazy:";
const noHttp2 = "\0no-http2";
const noPgNative = "\0no-pg-native";
const noFetch = "\0no-fetch";
/** What undici's index names beside the dispatchers that dimsync uses: fetch, WebSocket, mocks, caches, interceptors. */
const beyondDispatchers =
  /^\.\/lib\/(?:web|mock|interceptor|cache|dispatcher\/(?:balanced|round-robin|socks5|env-http|retry|h2c))|^\.\.\/web\/fetch\/body\.js$/u;

/**
 * Rolldown plugin, for bundles that are CommonJS. node:http2 is left out, 4 ms: requests only use
 * HTTP/1.1 (src/core/base/http/connections.ts), and undici works without it. So is most of undici: loading all of it takes 60 ms of
 * CPU time instead of 20 (medians of 15 runs in turn, Node 20, 30 November 2026). So is
 * the optional package pg-native, which nothing uses and bundlers would look for.
 */
export const lazyLoading = {
  name: "lazy-loading",
  resolveId(module, importer = "") {
    if (module === "node:http2") return { id: noHttp2, moduleSideEffects: false };
    if (module === "pg-native") return { id: noPgNative, moduleSideEffects: false };
    if (beyondDispatchers.test(module) && importer.replaceAll("\\", "/").includes("/undici/"))
      return { id: noFetch, moduleSideEffects: false };
    if (module.startsWith(schemas)) return { id: `../../schema/${module.slice(schemas.length)}`, external: true };
    if (besideBundles.test(module) || importer.startsWith(prefix)) return { id: module, external: true };
    // undici looks into node:crypto when it is loaded.
    if (!lazyModules.includes(module) || importer.replaceAll("\\", "/").includes("/undici/")) return undefined;
    return { id: `${prefix}${module}`, moduleSideEffects: false };
  },
  load(id) {
    if (id === noHttp2) return "export const constants = {};";
    if (id === noPgNative) return "export {};";
    // The index makes one of these.
    if (id === noFetch) return "exports.CacheStorage = class {};";
    return id.startsWith(prefix) ? standIns(id.slice(prefix.length)) : undefined;
  },
};

/**
 * Rolldown plugin: the generated index of validators loads them with `require`, which bundlers
 * follow, instead of a function of its own, which works in the sources too.
 */
export const requiredValidators = {
  name: "required-validators",
  transform(code, id) {
    if (!id.endsWith("validators.generated.js")) return undefined;
    return {
      code: code.replace(/^(?:import \{ createRequire \}|const load = ).*$/gmu, "").replaceAll(/\bload\("/gu, 'require("'),
      map: null,
    };
  },
};

function standIns(module) {
  const library = require(module);
  const functions = Object.entries(library).flatMap(([name, member]) => (typeof member === "function" ? [name] : []));
  const names = functions.filter((name) => name !== "default");
  const path = lazyPackages.includes(module) ? `./${module}.cjs` : module;
  // A plain require, so that bundlers of those who use the library find the file.
  return `let loaded;
const library = () => (loaded ??= require(${JSON.stringify(path)}));
const standIn = (member) => new Proxy(function () {}, {
  apply: (_, self, args) => Reflect.apply(member(), self, args),
  construct: (_, args) => Reflect.construct(member(), args),
  get: (_, key) => member()[key],
});
${typeof library === "function" ? "export default /* @__PURE__ */ standIn(library);" : ""}
${functions.includes("default") ? "export default /* @__PURE__ */ standIn(() => library().default);" : ""}
${names.map((name) => `export const ${name} = /* @__PURE__ */ standIn(() => library().${name});`).join("\n")}`;
}
