import type { ExitCode } from "../core/base/model/exit.ts";
import type { Context } from "./context.ts";
import type { FlagsOf, GlobalFlags, Options } from "./flags.ts";

/** What a command does; `Args` are the arguments that its usage declares. */
export type RunCommand<Flags extends GlobalFlags, Args extends readonly unknown[]> = (
  context: Context<Flags>,
  ...args: Args
) => Promise<ExitCode>;

interface Declaration<O extends Options, Args extends readonly unknown[]> {
  /** Its name and arguments, in commander's syntax. */
  readonly usage: string;
  /** The list of commands shows the first sentence. */
  readonly description: string;
  readonly options?: O;
  readonly examples?: readonly string[];
  /** Printed when a signal arrives; "" prints nothing. */
  readonly onInterrupt?: string;
  /** Imports its code, so that no command loads that of another. */
  readonly load: () => Promise<RunCommand<GlobalFlags & FlagsOf<O>, Args>>;
}

/** A command of any options and arguments. */
export interface Declared extends Omit<Declaration<Options, readonly unknown[]>, "load"> {
  readonly run: (context: Context, args: readonly unknown[]) => Promise<ExitCode>;
}

/** Declares a command. The types of its flags and arguments follow from its options and from what `load` returns. */
export const declared = <O extends Options = Record<never, never>, Args extends readonly unknown[] = readonly []>({
  load,
  ...declaration
}: Declaration<O, Args>): Declared => ({
  ...declaration,
  run: async (context, args) =>
    // biome-ignore lint/plugin: commander makes the flags and arguments that the declaration names
    (await load())(context as unknown as Context<GlobalFlags & FlagsOf<O>>, ...(args as unknown as Args)),
});
