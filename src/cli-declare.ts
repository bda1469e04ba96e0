import type { Command } from "commander";
import type { Context } from "./cli/context.ts";
import type { GlobalFlags } from "./cli/flags.ts";
import type { Io } from "./cli/io.ts";
import type { ExitCode } from "./model/exit.ts";

/** What a command does; `Args` are the arguments that its usage declares. */
export type Run<Flags extends GlobalFlags, Args extends readonly unknown[]> = (context: Context<Flags>, ...args: Args) => Promise<ExitCode>;

/** Declares a command. `usage` is its name and arguments; `run` imports its code, so that no command loads that of another. */
export type Add = <Flags extends GlobalFlags = GlobalFlags, Args extends readonly unknown[] = readonly []>(
  usage: string,
  description: string,
  run: Run<Flags, Args>,
) => Command;

/** What the commands are declared on. */
export interface CommandLine {
  readonly program: Command;
  readonly io: Io;
  readonly done: (code: ExitCode) => void;
  readonly add: Add;
}
