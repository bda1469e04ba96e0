import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import type { GlobalFlags } from "./flags.ts";
import type { Io } from "./io.ts";

/** What a command is run with: the outside world and the flags that all commands share. */
export interface Context<Flags extends GlobalFlags = GlobalFlags> {
  readonly io: Io;
  readonly flags: Flags;
  /** The working directory after --chdir, absolute. */
  readonly cwd: string;
}

export function contextOf<Flags extends GlobalFlags>(io: Io, flags: Flags): Context<Flags> {
  return { io, flags, cwd: flags.chdir === undefined ? io.cwd : resolve(io.cwd, flags.chdir) };
}

/** Throws E_USAGE where --chdir names no folder: everything would look empty there. */
export function checkFolder({ flags, cwd }: Context): void {
  if (flags.chdir === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new DimsyncError("E_USAGE", `--chdir names ${JSON.stringify(flags.chdir)}, and there is no such folder.`);
}

/** Colour where it is wanted (NO_COLOR, FORCE_COLOR, --no-color), else where the stream is a terminal. */
export function wantsColor({ io, flags }: Context, isTty: boolean): boolean {
  const { NO_COLOR: never, FORCE_COLOR: always } = io.env;
  if (!flags.color || (never !== undefined && never !== "")) return false;
  return always === undefined ? isTty : always !== "0" && always !== "false";
}
