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
    const text = await licenseText(join(root, folder));
    if (text === undefined) throw new Error(`The package ${name} is bundled and has no licence file.`);
    sections.push(`${name} ${version} (${license})\n\n${text}\n`);
  }
  return `dimsync holds code of these packages.\n\n${sections.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** The licence file, or the section of the README that holds it. */
async function licenseText(folder) {
  const entries = await readdir(folder);
  const file = entries.find((entry) => /^(?:licen[cs]e|copying)(?:[.-].*)?$/i.test(entry));
  if (file !== undefined) return (await readFile(join(folder, file), "utf8")).trim();
  const readme = entries.find((entry) => /^readme\.md$/i.test(entry));
  if (readme === undefined) return undefined;
  return /^#+ licen[cs]e\s*\n([\s\S]*copyright[\s\S]*)$/im.exec(await readFile(join(folder, readme), "utf8"))?.[1]?.trim();
}

/** "node_modules/a/node_modules/@b/c/lib/x.js" -> "node_modules/a/node_modules/@b/c"; nothing for our own files. */
function packageFolder(path) {
  const at = path.lastIndexOf("node_modules/");
  if (at < 0) return [];
  const [scope, name] = path.slice(at + "node_modules/".length).split("/");
  return [join(path.slice(0, at), "node_modules", scope.startsWith("@") ? `${scope}/${name}` : scope)];
}
