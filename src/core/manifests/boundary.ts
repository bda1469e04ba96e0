import { realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { repositoryTop } from "../base/git/process.ts";
import { DimsyncError } from "../base/model/errors.ts";
import { type Problem, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { allowPathVariable, type Environment } from "../base/model/settings/env.ts";

/** Which files a project may name. Whoever can change its files could otherwise make dimsync print, or replace, any file of the machine. */
export interface Boundary {
  /** The folder that paths must stay in, with links resolved: the top of the checkout, or the folder of dimsync.yaml. */
  readonly top: string;
  /** Where a path leads, with links resolved; undefined if the project may name it. The file need not exist. */
  readonly leadsOutside: (path: string) => string | undefined;
  /** Whether the file belongs to the project, so that its author knows it: lines of others are not quoted, although the project may name them. */
  readonly isOwn: (path: string) => boolean;
}

interface BoundaryOptions {
  /** Absolute: DIMSYNC_ALLOW_PATH is relative to it. */
  readonly cwd: string;
  readonly env: Environment;
  /** The top folder of the project's files, if it is known without git. */
  readonly top?: string | undefined;
  /** A folder of the same project elsewhere. */
  readonly labelFolder?: string | undefined;
}

/** The boundary of a project in this folder. */
export function boundaryOf(folder: string, { cwd, env, top: known, labelFolder }: BoundaryOptions): Boundary {
  const real = realPathOf(folder);
  const top = realPathOf(known ?? repositoryTop(real) ?? real);
  const fromEnvironment = (env[allowPathVariable] ?? "").split(delimiter).filter((path) => path !== "");
  const others = fromEnvironment.map((path) => realPathOf(resolve(cwd, path)));
  const tops = [top, ...(labelFolder === undefined ? [] : [boundaryOf(labelFolder, { cwd, env }).top])];
  // Git keeps credentials in its own folder, and no branch can change it.
  const isOfProject = (target: string): boolean =>
    tops.some((one) => isInside(one, target) && !relative(one, target).toLowerCase().split(sep).includes(".git"));
  return {
    top,
    isOwn: (path) => isOfProject(realPathOf(path)),
    leadsOutside(path) {
      const target = realPathOf(path);
      return isOfProject(target) || others.some((other) => isInside(other, target)) ? undefined : target;
    },
  };
}

/** E_PATH_OUTSIDE. `written`: the path as the project names it; `target`: where it leads. */
export function outsideProblem(
  { top }: Pick<Boundary, "top">,
  { written, target }: { readonly written: string; readonly target: string },
  place: SourceLocation | undefined,
): Problem {
  return problemAt(place, { code: "E_PATH_OUTSIDE", message: outsideMessage(written, target, top) });
}

/** Says what is wrong and what to do. */
export function outsideMessage(written: string, target: string, top: string): string {
  const leads = `${written} ${written === target ? "is" : `leads to ${target}, which is`}`;
  if (isInside(top, target))
    return `${leads} in a .git folder, where git keeps credentials, so dimsync uses no file there. Name another file.`;
  return `${leads} not in ${top}. Whoever can change the project could make dimsync read or replace any file, so it only uses files in this folder. Move the file there, or allow its folder with --allow-path or ${allowPathVariable}.`;
}

/** Throws E_PATH_OUTSIDE if a file that is about to be written is elsewhere: a link in the repository may lead to another folder. */
export function refuseOutside({ leadsOutside, top }: Boundary, path: string): void {
  const target = leadsOutside(path);
  if (target !== undefined) throw new DimsyncError("E_PATH_OUTSIDE", outsideMessage(path, target, top));
}

/** The path with links resolved. What does not exist yet is added to the folder that does. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPathOf(folder), basename(path));
  }
}

/** Whether the path is the folder or in it. */
export function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
