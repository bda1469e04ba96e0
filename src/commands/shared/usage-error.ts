import type { Command, CommanderError } from "commander";
import { DimsyncError } from "../../model/errors.ts";
import { didYouMean } from "../../text/suggest.ts";

/** A command line that can't be read, said like every other mistake, with the help that fits: of the command, where one was named. */
export function usageError(error: CommanderError, program: Command, argv: readonly string[]): DimsyncError {
  // "error: unknown option '--foo'\n(Did you mean --four?)"
  const [what = "", hint = ""] = error.message.replace(/^error: /u, "").split("\n");
  const sentence = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`.replace(/\.?$/u, ".");
  const suggestion = hint === "" ? "" : ` ${hint.replace(/^\(|\)$/gu, "")}`;
  const command = program.commands.find((one) => argv.some((word) => word === one.name() || one.aliases().includes(word)));
  return new DimsyncError("E_USAGE", sentence + suggestion, {
    command: command === undefined ? "dimsync --help" : `dimsync ${command.name()} --help`,
  });
}

/** As `usageError`, for `dimsync help NAME`. */
export function unknownCommand(name: string, program: Command): DimsyncError {
  const names = program.commands.map((command) => command.name());
  return new DimsyncError("E_USAGE", `Unknown command '${name}'.${didYouMean(name, names)}`, { command: "dimsync --help" });
}
