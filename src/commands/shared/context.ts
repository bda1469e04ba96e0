import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import { allowCodeVariable, isEnabled } from "../../model/settings/env.ts";
import type { GlobalFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { say } from "./say.ts";

/** The environment of a command. */
export interface Context<Flags extends GlobalFlags = GlobalFlags> {
  readonly io: Io;
  readonly flags: Flags;
  /** The working directory after --chdir, absolute. */
  readonly cwd: string;
}

export function contextOf<Flags extends GlobalFlags>(given: Io, flags: Flags): Context<Flags> {
  const io = flags.allowCode === true ? { ...given, env: { ...given.env, [allowCodeVariable]: "1" } } : given;
  return { io, flags, cwd: flags.chdir === undefined ? io.cwd : resolve(io.cwd, flags.chdir) };
}

/** Throws E_USAGE if the directory of --chdir does not exist. */
export function checkFolder({ flags, cwd }: Context): void {
  if (flags.chdir === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new DimsyncError("E_USAGE", `The directory ${JSON.stringify(flags.chdir)} of --chdir does not exist.`);
}

/** Whether to print colors: NO_COLOR, --no-color and FORCE_COLOR decide; otherwise only on a terminal. */
export function wantsColor({ io, flags }: Context, isTty: boolean): boolean {
  const { NO_COLOR: noColor = "", FORCE_COLOR: forceColor } = io.env;
  if (!flags.color || noColor !== "") return false;
  return forceColor === undefined ? isTty : forceColor === "" || isEnabled(forceColor);
}

/** Prints on stderr which version of shared records a run read or wrote; nothing with --quiet. */
export const recordsNotice =
  ({ io, flags }: Context) =>
  (text: string): void => {
    if (flags.quiet !== true) say(io, text);
  };
