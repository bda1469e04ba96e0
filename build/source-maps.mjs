// node build/source-maps.mjs DIST FOLDER
//
// Writes the source maps of the bundles in DIST into FOLDER. Fails if the sources make other bundles.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleLibrary, bundleProgram } from "./program.mjs";

const [dist, target] = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const made = await mkdtemp(join(tmpdir(), "dimsync-maps-"));
try {
  for (const bundle of [bundleProgram, bundleLibrary]) await bundle(root, made, { version, sourceMaps: true });
  const files = await readdir(made, { recursive: true });
  for (const map of files.filter((file) => file.endsWith(".map"))) {
    const bundle = map.slice(0, -".map".length);
    const published = await readFile(join(dist, bundle), "utf8").catch(() => undefined);
    if (published !== (await readFile(join(made, bundle), "utf8")))
      throw new Error(`The sources make another ${bundle} than that in ${dist}`);
    await mkdir(dirname(join(target, map)), { recursive: true });
    await copyFile(join(made, map), join(target, map));
  }
} finally {
  await rm(made, { recursive: true, force: true });
}
