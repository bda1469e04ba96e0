import { Command, CommanderError } from "commander";
import { type Add, declareCommands, type Run, repeatable } from "./cli-commands.ts";
import { checkFolder, contextOf, version } from "./commands/shared/context.ts";
import type { GlobalFlags } from "./commands/shared/flags.ts";
import type { Io } from "./commands/shared/io.ts";
import type { ExitCode } from "./model/exit.ts";

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
    const [{ reportError }, { usageError }] = await Promise.all([
      import("./commands/shared/report-error.ts"),
      import("./commands/shared/usage-error.ts"),
    ]);
    const context = contextOf(io, running() ?? program.opts<GlobalFlags>());
    return reportError(context, error instanceof CommanderError ? usageError(error, program, argv) : error);
  }
}

/** The whole command line. `done` is told the exit code of the command that ran; `running` gives its flags. */
export function makeProgram(
  io: Io,
  done: (code: ExitCode) => void,
): { readonly program: Command; readonly running: () => GlobalFlags | undefined } {
  let flags: GlobalFlags | undefined;
  const program = new Command("dimsync");
  program
    .description("Keeps an account of a data integration service equal to YAML manifests in git.")
    .version(version, "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      // Mistakes are reported by `main`, like all others.
      outputError: () => {},
    })
    .configureHelp({ subcommandTerm, optionDescription: ({ description }) => description })
    .showSuggestionAfterError()
    .helpCommand(false)
    .addHelpText("after", examples);
  program
    .optionsGroup("Global options:")
    .option("-C, --chdir <dir>", "work in this folder")
    .option("--config <file>", "use this dimsync.yaml (else: found upward from the working folder)")
    .addOption(repeatable("-t, --target <name>", "act on this target; repeatable"))
    .option("--all-targets", "act on every target of the config")
    .addOption(repeatable("--var <name=value>", "set a variable of the manifests; repeatable"))
    .addOption(repeatable("--var-file <file>", "read variables from a YAML file; repeatable"))
    .addOption(repeatable("--only <glob>", "only these addresses, such as 'SchemaConfig/*'; repeatable"))
    .addOption(repeatable("--exclude <glob>", "not these addresses; repeatable"))
    .addOption(
      repeatable(
        "-o, --output <format[=path]>",
        "human (default), json, ndjson, markdown, html, sarif, junit, github; repeatable, one without a path",
      ),
    )
    .option("--concurrency <n>", "requests at a time")
    .option("--rate <n>", "requests per second, at most")
    .option("--timeout <duration>", "for one request: seconds, or 30s, 5m")
    .option("--retries <n>", "further attempts of a failed read")
    .option("--read-only", "refuse every call that writes")
    .option("--no-color", "no colour (also NO_COLOR)")
    .option("-q, --quiet", "no progress")
    .option("-v, --verbose", "everything in full");

  const add: Add = <Flags extends GlobalFlags>(usage: string, description: string, run: Run<Flags>): Command => {
    const command = program.command(usage).description(description);
    command.addHelpText("after", "\nOptions of every command (-C, --config, -t, --var, --only, -o, -q, -v …): dimsync --help");
    command.action(async (...all: readonly unknown[]) => {
      // Commander hands in the arguments, then the options, then the command.
      const args = all.slice(0, -2) as readonly (string | readonly string[] | undefined)[];
      const given = command.optsWithGlobals<Flags>();
      flags = given;
      checkFolder(contextOf(io, given));
      const tell = (): void => io.stderr(interruptions[command.name()] ?? "\ndimsync: interrupted.\n");
      io.interrupted.addEventListener("abort", tell, { once: true });
      try {
        done(await run(given, args));
      } finally {
        io.interrupted.removeEventListener("abort", tell);
      }
    });
    return command;
  };
  declareCommands({ program, io, done, add });
  return { program, running: () => flags };
}

/** What is said at once when a signal arrives, by command. */
const interruptions: Readonly<Record<string, string>> = {
  apply: "\ndimsync: interrupted. Nothing new is started; writes under way finish. Again to stop at once.\n",
  serve: "\ndimsync: the embedded service stops.\n",
};

const examples = `
Examples:
  dimsync validate                      check the manifests, offline
  dimsync plan                          what would change, with the calls that apply would make
  dimsync plan --out plan.json && dimsync apply plan.json
  dimsync apply --yes                   in CI, after merge
  dimsync drift -o markdown=drift.md    on a schedule; exit 2 on drift

Exit codes: 0 done · 1 error · 2 changes or drift · 3 refused by a guard or policy · 4 apply incomplete
            5 saved plan unfit · 6 locked · 130 interrupted`;

/** "plan|diff [paths...]": that there are options goes without saying. */
function subcommandTerm(command: Command): string {
  const names = [command.name(), ...command.aliases()].join("|");
  return [names, ...command.registeredArguments.map((argument) => argumentTerm(argument.name(), argument))].join(" ");
}

function argumentTerm(name: string, { required, variadic }: { readonly required: boolean; readonly variadic: boolean }): string {
  const shown = variadic ? `${name}...` : name;
  return required ? `<${shown}>` : `[${shown}]`;
}
