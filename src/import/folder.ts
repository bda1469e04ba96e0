import { readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import type { Project } from "../manifests/project.ts";
import { DimsyncError } from "../model/errors.ts";
import { read } from "../yaml/read.ts";

/**
 * The folder for new files: `out`, else the first folder in the config's `manifests`. Absolute.
 * Throws E_USAGE if the project would not load files from there: the plan after the import would
 * be empty just because it does not see them.
 */
export function importFolder({ configFile, settings }: Project, out: string | undefined): string {
  if (configFile === undefined) return out ?? settings.folder;
  const root = dirname(configFile);
  const config = read(readFileSync(configFile, "utf8")).documents[0]?.value ?? {};
  const { manifests = ["."] } = config as { readonly manifests?: readonly string[] }; // loading has checked it
  const isLoaded = (folder: string): boolean => manifests.some((entry) => loads(entry, folder, root));
  const bases = [...manifests]
    .sort((a, b) => Number(isGlob(a)) - Number(isGlob(b)))
    .map((entry) => resolve(root, picomatch.scan(entry).base));
  const folder = out ?? bases.find(isLoaded);
  if (folder !== undefined && isLoaded(folder)) return folder;
  const named = `The \`manifests\` of ${configFile} are ${manifests.join(", ")}.`;
  throw new DimsyncError(
    "E_USAGE",
    out === undefined
      ? `${named} None of these is a folder in which import can create files. Add a folder to \`manifests\`.`
      : `${named} dimsync would not load files that import creates in ${relative(root, out) || "."}. Add this folder to \`manifests\`, or pass a folder below those to --out.`,
  );
}

const isGlob = (entry: string): boolean => picomatch.scan(entry).isGlob;

/** Whether the entry of `manifests` loads files in the folder and in its sub-folders (manifests/discover.ts). */
function loads(entry: string, folder: string, root: string): boolean {
  if (isGlob(entry)) {
    const matches = picomatch(entry, { dot: false });
    return ["x.yaml", "integrations/x.yaml"].every((file) => matches(relative(root, resolve(folder, file)).replaceAll(sep, "/")));
  }
  if (/\.ya?ml$/iu.test(entry)) return false;
  const inside = relative(resolve(root, entry), folder);
  const names = inside.split(sep);
  return !isAbsolute(inside) && !names.some((name) => name.startsWith(".") || name === "node_modules");
}
