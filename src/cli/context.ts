import { statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { DimsyncError } from "../core/base/model/errors.ts";
import { allowPathVariable, type Environment, isEnabled } from "../core/base/model/settings/env.ts";
import { withFlags } from "../core/base/text/shell.ts";
import type { GlobalFlags } from "./flags.ts";
import { type Io, say } from "./io.ts";

/** The environment of a command. */
export interface Context<Flags extends GlobalFlags = GlobalFlags> {
  readonly io: Io;
  readonly flags: Flags;
  /** The working directory after --chdir, absolute. */
  readonly cwd: string;
}

export function contextOf<Flags extends GlobalFlags>(io: Io, flags: Flags): Context<Flags> {
  const cwd = flags.chdir === undefined ? io.cwd : resolve(io.cwd, flags.chdir);
  const allowed = allowedBy(flags, cwd, io.env);
  return { io: Object.keys(allowed).length === 0 ? io : { ...io, env: { ...io.env, ...allowed } }, flags, cwd };
}

/** What flags allow the project, as the variables that the rest of dimsync reads. */
function allowedBy({ allowPath = [] }: GlobalFlags, cwd: string, env: Environment): Environment {
  const paths = [env[allowPathVariable] ?? "", ...allowPath.map((path) => resolve(cwd, path))].filter((path) => path !== "");
  return allowPath.length > 0 ? { [allowPathVariable]: paths.join(delimiter) } : {};
}

/** Throws E_USAGE if the directory of --chdir does not exist. */
export function checkFolder({ flags, cwd }: Context): void {
  if (flags.chdir === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new DimsyncError("E_USAGE", `The directory ${JSON.stringify(flags.chdir)} of --chdir does not exist.`);
}

/** A terminal that understands no escape sequences, such as the shell of Emacs. */
export const isDumb = ({ env }: Context["io"]): boolean => env["TERM"] === "dumb";

/** Whether to print colors: NO_COLOR, --no-color and FORCE_COLOR decide; otherwise only on a terminal that is not dumb. */
export function wantsColor({ io, flags }: Context, isTty: boolean): boolean {
  const { NO_COLOR: noColor = "", FORCE_COLOR: forceColor } = io.env;
  if (flags.color === false || noColor !== "") return false;
  return forceColor === undefined ? isTty && !isDumb(io) : forceColor === "" || isEnabled(forceColor);
}

/** A command line for the project and the target of this run, if its flags choose them. */
export function commandLine({ flags: { chdir, config, target } }: Context, line: string): string {
  const given = [["-C", chdir] as const, ["--config", config] as const, ["-t", target.length === 1 ? target[0] : undefined] as const];
  return withFlags(
    line,
    given.flatMap(([flag, value]) => (value === undefined ? [] : [[flag, value] as const])),
  );
}

/** Prints on stderr which version of shared records a run read or wrote; nothing with --quiet. */
export const recordsNotice =
  ({ io, flags }: Context) =>
  (text: string): void => {
    if (flags.quiet !== true) say(io, text);
  };
