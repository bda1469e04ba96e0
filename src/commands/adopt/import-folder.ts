import { readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { parse } from "yaml";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";

/**
 * Where import puts new files: `--out`, else the first folder that the config names as manifests. Absolute. Throws E_USAGE where the project
 * would not load what is written there: the plan at the end would be empty because it saw nothing.
 */
export function importFolder({ configFile, settings }: Project, out: string | undefined): string {
  if (configFile === undefined) return out ?? settings.folder;
  const root = dirname(configFile);
  const { manifests = ["."] } = parse(readFileSync(configFile, "utf8")) as { readonly manifests?: readonly string[] }; // it has been read and found right
  const isLoaded = (folder: string): boolean => manifests.some((entry) => loads(entry, folder, root));
  const places = [...manifests]
    .sort((a, b) => Number(isGlob(a)) - Number(isGlob(b)))
    .map((entry) => resolve(root, picomatch.scan(entry).base));
  const folder = out ?? places.find(isLoaded);
  if (folder !== undefined && isLoaded(folder)) return folder;
  throw new DimsyncError(
    "E_USAGE",
    `${configFile} names ${manifests.join(", ")} as manifests. ${
      out === undefined
        ? "None of these is a folder in which import could put files"
        : `What import put into ${relative(root, out) || "."} would not be loaded from there`
    }. Add a folder to \`manifests\`${out === undefined ? "" : ", or choose one below those"}.`,
  );
}

const isGlob = (entry: string): boolean => picomatch.scan(entry).isGlob;

/** Whether files in the folder, and one folder deeper, are manifests by that entry (manifests/discover.ts). */
function loads(entry: string, folder: string, root: string): boolean {
  if (isGlob(entry)) {
    const matches = picomatch(entry, { dot: false });
    return ["x.yaml", "integrations/x.yaml"].every((file) => matches(relative(root, resolve(folder, file)).replaceAll(sep, "/")));
  }
  if (/\.ya?ml$/iu.test(entry)) return false;
  const way = relative(resolve(root, entry), folder);
  const names = way.split(sep);
  return !isAbsolute(way) && !names.some((name) => name.startsWith(".") || name === "node_modules");
}
