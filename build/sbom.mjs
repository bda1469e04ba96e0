// node build/sbom.mjs > dimsync.cdx.json
//
// Prints the bill of materials of the npm package as CycloneDX JSON: the packages whose code is in
// dist/, which the build lists in dist/packages.json. The dependencies in package.json are only
// needed for development, and are not in it. Equal builds give equal text: there is no time and no
// serial number.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";

const root = fileURLToPath(new URL("../", import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const licenses = new Contrib.License.Factories.LicenseFactory(() => undefined);

function component({ name, version, license }, type, integrity) {
  const [, group, short = name] = /^(@[^/]+)\/(.+)$/u.exec(name) ?? [];
  const purl = new PackageURL("npm", group, short, version).toString();
  const made = new Models.Component(type, short, { group, version, purl, bomRef: purl });
  made.licenses.add(licenses.makeDisjunctive(license));
  // "sha512-BASE64" in the lock file.
  const digest = /^sha512-(.+)$/u.exec(integrity ?? "")?.[1];
  if (digest !== undefined) made.hashes.set(Enums.HashAlgorithm["SHA-512"], Buffer.from(digest, "base64").toString("hex"));
  return made;
}

const program = readJson("package.json");
const lock = readJson("package-lock.json");
const bom = new Models.Bom();
const main = component(program, Enums.ComponentType.Application);
bom.metadata.component = main;
for (const shipped of readJson("dist/packages.json")) {
  const library = component(shipped, Enums.ComponentType.Library, lock.packages[shipped.folder]?.integrity);
  bom.components.add(library);
  main.dependencies.add(library.bomRef);
}
const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
process.stdout.write(`${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`);
