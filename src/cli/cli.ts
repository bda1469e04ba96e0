import { Command, CommanderError, Option } from "commander";
import type { ExitCode } from "../core/base/model/exit.ts";
import { version } from "../core/base/model/runtime/version.ts";
import { commandGroups } from "./commands.ts";
import { checkFolder, contextOf } from "./context.ts";
import { type Declared, type GlobalFlags, globalOptions, type Options } from "./flags.ts";
import { afterHelp, examples, formatHelp, optionDescription, subcommandTerm } from "./help.ts";
import { type Io, processIo } from "./io.ts";
import { startDebugLog } from "./request-log.ts";
import { standardStream } from "./standard-stream.ts";

/** Runs a command line in this process and sets its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  if (!folderExists()) {
    standardStream(2).write("dimsync: E_USAGE: The working directory no longer exists. Change to an existing one.\n");
    process.exitCode = 1;
    return;
  }
  process.exitCode = await main(argv, processIo());
}

/** False if the directory that this process was started in was deleted; no relative path can be resolved then. */
function folderExists(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/** Runs a command line and returns its exit code. Prints only through `io`; reports every error instead of throwing it. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exit: ExitCode = 0;
  const { program, running } = makeProgram(io, (code) => {
    exit = code;
  });
  try {
    if (argv.some((word) => /^-[a-z]{2}/u.test(word))) await refuseSingleDash(program, argv);
    // `dimsync --help plan` is the help of plan.
    const [first = "", ...rest] = argv;
    const isHelp = (first === "--help" || first === "-h") && rest.length > 0;
    await program.parseAsync(isHelp ? [...rest, first] : [...argv], { from: "user" });
    return exit;
  } catch (error) {
    // Commander also throws after it has printed help or the version.
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === "commander.help")) return error.exitCode === 0 ? 0 : 1;
    if (io.interrupted.aborted) return 130;
    const { reportError, usageError } = await import("./report-error.ts");
    const context = contextOf(io, running() ?? program.opts<GlobalFlags>());
    return reportError(context, error instanceof CommanderError ? usageError(error, program, argv) : error);
  }
}

/** Throws E_USAGE for a long option with one dash. */
async function refuseSingleDash(program: Command, argv: readonly string[]): Promise<void> {
  const { singleDashError } = await import("./report-error.ts");
  const error = singleDashError(program, argv);
  if (error !== undefined) throw error;
}

/** The commander program. Calls `done` with the exit code of the command that ran; `running` returns that command's flags. */
export function makeProgram(
  io: Io,
  done: (code: ExitCode) => void,
): { readonly program: Command; readonly running: () => GlobalFlags | undefined } {
  let flags: GlobalFlags | undefined;
  const program = new Command("dimsync");
  program
    .usage("<command> [options]")
    .description("Keeps a data integration account in sync with YAML manifests in git.")
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      // `main` reports usage errors like all other errors.
      outputError: () => {},
    })
    .configureHelp({ minWidthToWrap: 24, formatHelp, optionDescription, subcommandTerm })
    .showSuggestionAfterError()
    .helpCommand(false)
    .addHelpText("after", () => afterHelp(program, examples));
  addGlobalOptions(program);
  const onRun = (given: GlobalFlags): void => {
    flags = given;
  };
  const runner = { io, done, onRun };
  for (const [group, commands] of Object.entries(commandGroups)) {
    program.commandsGroup(group);
    for (const command of commands) addCommand(program, command, runner);
  }
  return { program, running: () => flags };
}

interface Runner {
  readonly io: Io;
  readonly done: (code: ExitCode) => void;
  /** Called with the flags of the command that runs. */
  readonly onRun: (flags: GlobalFlags) => void;
}

/** Its action gets what `usage` declares. */
function addCommand(program: Command, declaration: Declared, { io, done, onRun }: Runner): Command {
  const { usage, description, options = {}, examples: lines = [], onInterrupt = "\ndimsync: interrupted.\n" } = declaration;
  const command = program
    .command(usage)
    .description(description)
    .summary(description.replace(/\.(?: .*)?$/su, ""))
    .helpOption("-h, --help", "Print help");
  addOptions(command, options).addHelpText("after", () => afterHelp(command, lines));
  // Commander passes the arguments that `usage` declares, then the options, then the command.
  command.action(async (...all) => {
    const given = command.optsWithGlobals<GlobalFlags>();
    onRun(given);
    const context = contextOf(io, given);
    checkFolder(context);
    const stopDebugLog = startDebugLog(io, given);
    const announce = (): void => io.stderr(onInterrupt);
    io.interrupted.addEventListener("abort", announce, { once: true });
    try {
      done(await declaration.run(context, all.slice(0, -2)));
    } finally {
      io.interrupted.removeEventListener("abort", announce);
      stopDebugLog();
    }
  });
  return command;
}

function addOptions(command: Command, options: Options): Command {
  for (const [flags, said] of Object.entries(options)) {
    const option = new Option(flags, typeof said === "string" ? said : said.text);
    if (typeof said !== "string" && "repeatable" in said) option.argParser(collect).default([], "");
    if (typeof said !== "string" && "choices" in said) option.choices(said.choices);
    command.addOption(option);
  }
  return command;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Options of every command. */
const addGlobalOptions = (program: Command): Command =>
  addOptions(program.optionsGroup("Global options:"), globalOptions)
    .version(version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print help");
