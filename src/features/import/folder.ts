import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { Project } from "../../core/manifests/index.ts";
import { globMatcher } from "../../core/manifests/index.ts";

/** Absolute folders for new files. */
export interface ImportFolders {
  /** The files are manifests of every target. */
  readonly shared: string;
  /** The files are manifests of this target only; undefined if the config names no such folder. */
  readonly own: string | undefined;
  /** The user has chosen the shared folder, knowing that other targets load it. */
  readonly isSharedChosen: boolean;
}

/** Where import creates files. */
export interface NewFiles {
  /** Absolute. */
  readonly folder: string;
  /** metadata.targets of the manifests, if other targets load them and must not plan them. */
  readonly targets: readonly string[] | undefined;
  /** Whether other targets load the folder. */
  readonly isShared: boolean;
}

/** Where new manifests of `target` go. `isInUse`: whether other targets would plan them. */
export function newFilesIn({ shared, own, isSharedChosen }: ImportFolders, target: string, isInUse: boolean): NewFiles {
  if (!isInUse || isSharedChosen) return { folder: shared, targets: undefined, isShared: true };
  return own === undefined ? { folder: shared, targets: [target], isShared: true } : { folder: own, targets: undefined, isShared: false };
}

/**
 * The folders for new files: `out`, else the first folders in the config's `manifests`. Throws
 * E_USAGE if the project would not load files from there: the plan after the import would be empty
 * just because it does not see them.
 */
export function importFolders({ configFile, settings, patterns }: Project, out: string | undefined): ImportFolders {
  if (configFile === undefined) return { shared: out ?? settings.folder, own: undefined, isSharedChosen: out !== undefined };
  const root = dirname(configFile);
  const isOwn = (folder: string): boolean => patterns.own.some((pattern) => loads(pattern, folder, root));
  const isShared = (folder: string): boolean => !isOwn(folder) && patterns.shared.some((pattern) => loads(pattern, folder, root));
  if (out !== undefined) {
    if (isOwn(out)) return { shared: out, own: out, isSharedChosen: false };
    if (isShared(out)) return { shared: out, own: undefined, isSharedChosen: true };
    throw notLoaded(
      configText(configFile, patterns),
      `dimsync would not load files that import creates in ${relative(root, out) || "."}. Add this folder to \`manifests\`, or pass a folder below those to --out.`,
    );
  }
  const own = basesOf(patterns.own, root).find(isOwn);
  const shared = basesOf(patterns.shared, root).find(isShared) ?? own;
  if (shared !== undefined) return { shared, own, isSharedChosen: false };
  throw notLoaded(
    configText(configFile, patterns),
    "None of these is a folder in which import can create files. Add a folder to `manifests`.",
  );
}

const configText = (configFile: string, { shared, own }: Project["patterns"]): string =>
  `The \`manifests\` of ${configFile} are ${[...shared, ...own].join(", ")}.`;

const notLoaded = (what: string, advice: string): DimsyncError => new DimsyncError("E_USAGE", `${what} ${advice}`);

/** The folders of patterns; those of plain paths first. */
const basesOf = (patterns: readonly string[], root: string): readonly string[] =>
  [...patterns].sort((a, b) => Number(isGlob(a)) - Number(isGlob(b))).map((pattern) => resolve(root, picomatch.scan(pattern).base));

const isGlob = (pattern: string): boolean => picomatch.scan(pattern).isGlob;

/** Whether the pattern covers files in the folder and in its sub-folders (manifests/discover.ts). */
function loads(pattern: string, folder: string, root: string): boolean {
  if (isGlob(pattern)) {
    const matches = globMatcher(pattern);
    return ["x.yaml", "integrations/x.yaml"].every((file) => matches(relative(root, resolve(folder, file))) === true);
  }
  if (/\.ya?ml$/iu.test(pattern)) return false;
  const inside = relative(resolve(root, pattern), folder);
  const names = inside.split(sep);
  return !isAbsolute(inside) && !names.some((name) => name.startsWith(".") || name === "node_modules");
}
