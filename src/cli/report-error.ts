import { DimsyncError, ProblemsError } from "../core/base/model/errors.ts";
import type { ExitCode } from "../core/base/model/exit.ts";
import { visible } from "../core/base/text/control-characters.ts";
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
  named: (command: string) => string = (command) => command,
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
