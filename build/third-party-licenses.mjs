import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * The licences of all packages of which the bundles hold code: name, version and the text of the licence file. Found by bundling once more, in the
 * plainest way and without writing, so that it doesn't matter how the build cuts its files. Throws where a package has none: none is shipped without.
 */
export async function thirdPartyLicenses(root) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli.ts", "src/index.ts"],
    outdir: "unwritten",
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = new Set(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? packageFolder(path) : [])));
  const sections = [];
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
    const file = (await readdir(join(root, folder))).find((entry) => /^(?:licen[cs]e|copying)(?:[.-].*)?$/i.test(entry));
    if (file === undefined) throw new Error(`The package ${name} is bundled and has no licence file.`);
    const text = (await readFile(join(root, folder, file), "utf8")).trim();
    sections.push(`${name} ${version} (${license})\n\n${text}\n`);
  }
  return `dimsync holds code of these packages.\n\n${sections.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** "node_modules/a/node_modules/@b/c/lib/x.js" -> "node_modules/a/node_modules/@b/c"; nothing for our own files. */
function packageFolder(path) {
  const at = path.lastIndexOf("node_modules/");
  if (at < 0) return [];
  const [scope, name] = path.slice(at + "node_modules/".length).split("/");
  return [join(path.slice(0, at), "node_modules", scope.startsWith("@") ? `${scope}/${name}` : scope)];
}
