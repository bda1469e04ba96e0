import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The packages whose code is in the bundles: { name, version, license, folder }, sorted by folder,
 * which is relative to `root`. `modules`: the files of all modules that a bundler wrote, absolute
 * or relative to `root`.
 */
export async function shippedPackages(root, modules) {
  const folders = new Set(modules.flatMap((file) => packageFolder(file.replaceAll("\\", "/"))));
  return await Promise.all(
    [...folders].sort().map(async (folder) => {
      const { name, version, license } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
      return { name, version, license, folder };
    }),
  );
}

/**
 * "/x/node_modules/a/node_modules/@b/c/lib/x.js" -> "node_modules/a/node_modules/@b/c"; nothing for
 * our own files.
 */
function packageFolder(path) {
  const found = /(?:^|\/)(node_modules\/.*)$/u.exec(path)?.[1];
  if (found === undefined) return [];
  const at = found.lastIndexOf("node_modules/") + "node_modules/".length;
  const [scope, name] = found.slice(at).split("/");
  return [found.slice(0, at) + (scope.startsWith("@") ? `${scope}/${name}` : scope)];
}
