import type { Command, CommanderError } from "commander";
import { DimsyncError, ProblemsError } from "../core/base/model/errors.ts";
import type { ExitCode } from "../core/base/model/exit.ts";
import { visible } from "../core/base/text/control-characters.ts";
import { capitalized } from "../core/base/text/describe.ts";
import { writeCommands } from "../core/base/text/workflow-commands.ts";
import type { RenderOptions } from "../core/render/index.ts";
import { diagnosticLines, screenOf } from "../core/render/terminal/index.ts";
import { type Context, commandLine, wantsColor } from "./context.ts";
import { type CommandFailure, failurePieces, writeGithubStep } from "./github-outputs.ts";
import { filePrefix } from "./output.ts";

/**
 * Prints an error to stderr and returns its exit code. An error that is not a DimsyncError is a bug: --verbose prints its stack. `-o github` also sets the
 * outputs of the step and prints an annotation.
 */
export function reportError(context: Context, error: unknown): ExitCode {
  const { io, flags } = context;
  const failure = printError(context, error);
  if (flags.output?.some((text) => text.split("=")[0] === "github") === true) {
    const { summary, line, annotations } = failurePieces(failure, { filePrefix: filePrefix(context) });
    const outputs = { has_changes: "false", exit_code: String(failure.exit), plan_file: "", summary_line: line };
    orIgnored(() => writeGithubStep(io.env, { summary, outputs }));
    // The runner also reads annotations on stderr; stdout may belong to another format.
    writeCommands(flags.output.includes("github") ? io.stdout : io.stderr, annotations);
  }
  return failure.exit;
}

/** Writes the error of a step, unless a file of the step can't be written: that may be the error itself. */
export function orIgnored(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
  }
}

/** The same, after printing it to stderr. */
export function printError(context: Context, error: unknown): CommandFailure {
  context.io.stderr(errorText(error, onStderr(context), (command) => commandLine(context, command)));
  return failureOf(error);
}

/** An error as a value. */
export function failureOf(error: unknown): CommandFailure {
  if (!(error instanceof DimsyncError)) return { code: "E_INTERNAL", message: "This is a bug in dimsync.", exit: 1, diagnostics: [] };
  const { code, message, exit } = error;
  return { code, message, exit, diagnostics: error instanceof ProblemsError ? error.diagnostics : [] };
}

const onStderr = (context: Context) => ({
  color: wantsColor(context, context.io.stderrIsTty),
  width: context.io.columns,
  verbose: context.flags.verbose === true,
});

/** An error as lines for a terminal, its commands as `named` gives them. One that is not a DimsyncError is a bug: with `verbose`, its stack is shown. */
function errorText(
  error: unknown,
  options: Pick<RenderOptions, "color" | "width" | "verbose">,
  named: (command: string) => string,
): string {
  const screen = screenOf(options);
  if (error instanceof ProblemsError)
    return error.diagnostics
      .map((one) => (one.command === undefined ? one : { ...one, command: named(one.command) }))
      .map((one) => `${diagnosticLines(one, screen).join("\n")}\n`)
      .join("");
  const head = (code: string): string => `dimsync: ${screen.paint.red(code)}: `;
  if (error instanceof DimsyncError) {
    const command = error.command === undefined ? "" : `  ${screen.paint.cyan(visible(named(error.command)))}\n`;
    return `${head(error.code)}${visible(error.message)}\n${command}`;
  }
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  const told = `${head("E_INTERNAL")}${visible(message)}\n  This is a bug in dimsync, not in your files. Please report it with the output of --verbose.\n`;
  return options.verbose ? `${told}${stack.split("\n").map(visible).join("\n")}\n` : told;
}

/** Options of other tools, with what to use instead. */
const habits: ReadonlyMap<string, string> = new Map([
  ["auto-approve", "To skip the confirmation, use --yes."],
  ["force", 'There is no --force. To lift a guard, name it: --allow NAME="reason".'],
  ["select", "To select addresses, use --only."],
  ["refresh-only", "To compare without applying, use dimsync drift."],
  ["filename", "The config names the manifests. To select some of them, use --only."],
  ["base-url", "To choose the account without a config, set the variable DIMSYNC_BASE_URL."],
  ["api-key", "No option takes the API key. Set the variable DIMSYNC_API_KEY."],
  ["json", "For JSON, use -o json."],
]);

/** Commander's error in the form of all other errors, with the help command for the command line. */
export function usageError(error: CommanderError, program: Command, argv: readonly string[]): DimsyncError {
  // "error: unknown option '--foo'\n(Did you mean --four?)"
  const [what = "", hint = ""] = error.message.replace(/^error: /u, "").split("\n");
  const sentence = capitalized(what).replace(/\.?$/u, ".");
  const word = /^commander\.unknown(?:Option|Command)$/u.test(error.code) ? /'-{0,2}([\w-]+)/u.exec(what)?.[1] : undefined;
  const suggestion = habits.get(word === "f" ? "filename" : (word ?? "")) ?? hint.replace(/^\(|\)$/gu, "");
  return new DimsyncError("E_USAGE", suggestion === "" ? sentence : `${sentence} ${suggestion}`, { command: helpCommand(program, argv) });
}

/** `-target=x`, which commander reads as `-t` with the value "arget=x". Returns the error, if there is one. */
export function singleDashError(program: Command, argv: readonly string[]): DimsyncError | undefined {
  const known = new Set([program, ...program.commands].flatMap(({ options }) => options.map(({ long }) => long ?? "")));
  const end = argv.indexOf("--");
  for (const word of end === -1 ? argv : argv.slice(0, end)) {
    const [, name = "", value = ""] = /^-([a-z][a-z-]+)(=.*)?$/su.exec(word) ?? [];
    if (!known.has(`--${name}`) && !habits.has(name)) continue;
    const instead = habits.get(name) ?? `Long options start with two dashes: --${name}${value}`;
    const only = name === "target" ? ". It selects a target of the config. To select addresses, use --only" : "";
    return new DimsyncError("E_USAGE", `Unknown option '${word}'. ${instead}${only}${instead.endsWith(".") ? "" : "."}`, {
      command: helpCommand(program, argv),
    });
  }
  return undefined;
}

function helpCommand(program: Command, argv: readonly string[]): string {
  const command = program.commands.find((one) => argv.includes(one.name()));
  return command === undefined ? "dimsync --help" : `dimsync ${command.name()} --help`;
}
