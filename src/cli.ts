import { CommanderError } from "commander";
import { contextOf } from "./commands/context.ts";
import type { GlobalFlags } from "./commands/flags.ts";
import type { Io } from "./commands/io.ts";
import type { ExitCode } from "./model/exit.ts";
import { makeProgram } from "./program.ts";

export { makeProgram } from "./program.ts";

/** Runs one command line and returns its exit code. Prints through `io` only; never throws for a mistake of the user's. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exit: ExitCode = 0;
  const { program, running } = makeProgram(io, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exit;
  } catch (error) {
    // Help and the version were printed; they are thrown too.
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")) return error.exitCode === 0 ? 0 : 1;
    if (io.interrupted.aborted) return 130;
    const [{ reportError }, { usageError }] = await Promise.all([import("./commands/report.ts"), import("./commands/usage-error.ts")]);
    const context = contextOf(io, running() ?? program.opts<GlobalFlags>());
    return reportError(context, error instanceof CommanderError ? usageError(error, program, argv) : error);
  }
}
