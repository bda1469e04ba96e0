import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Diagnostic } from "../model/problem.ts";
import type { Failure } from "../render/machine/ndjson.ts";
import { diagnosticLines } from "../render/terminal/diagnostics.ts";
import { screenOf } from "../render/terminal/layout.ts";
import { visible } from "../text/control-characters.ts";
import { writeCommands } from "../text/workflow-commands.ts";
import { type Context, wantsColor } from "./context.ts";
import { failurePieces, writeGithubStep } from "./github-outputs.ts";
import { filePrefix } from "./output.ts";
import { endStream } from "./progress.ts";

/** A diagnostic as printed on stderr. */
export function diagnosticText(context: Context, diagnostic: Diagnostic): string {
  const screen = screenOf({
    color: wantsColor(context, context.io.stderrIsTty),
    width: context.io.columns,
    verbose: context.flags.verbose === true,
  });
  return `${diagnosticLines(diagnostic, screen).join("\n")}\n`;
}

/**
 * Prints an error to stderr and returns its exit code. An error that is not a DimsyncError is a bug: --verbose prints its stack. `-o github` also sets the
 * outputs of the step and prints an annotation; `-o ndjson` ends with an error event.
 */
export function reportError(context: Context, error: unknown): ExitCode {
  const { io, flags } = context;
  const failure = printError(context, error);
  if (flags.output?.some((text) => text.split("=")[0] === "github") === true) {
    const { summary, line, annotations } = failurePieces(failure, filePrefix(context));
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

/** An error as a value, after printing it to stderr and ending the streams of `-o ndjson` with it. */
export function printError(context: Context, error: unknown): Failure {
  const exit = printText(context, error);
  const [code, message] = error instanceof DimsyncError ? [error.code, error.message] : ["E_INTERNAL", "This is a bug in dimsync."];
  const failure = { code, message, exit, diagnostics: error instanceof ProblemsError ? error.diagnostics : [] };
  // Usage errors are found before a stream starts, and its file may still be that of an earlier run.
  const hasStream = context.flags.output?.some((text) => text.split("=")[0] === "ndjson") === true;
  if (hasStream && code !== "E_USAGE") endStream(context, failure);
  return failure;
}

function printText(context: Context, error: unknown): ExitCode {
  const { io } = context;
  if (error instanceof ProblemsError) {
    for (const diagnostic of error.diagnostics) io.stderr(diagnosticText(context, diagnostic));
    return error.exit;
  }
  const { paint } = screenOf({ color: wantsColor(context, io.stderrIsTty), width: io.columns, verbose: false });
  const head = (code: string): string => `dimsync: ${paint.red(code)}: `;
  if (!(error instanceof DimsyncError)) {
    const text = error instanceof Error ? error : new Error(String(error));
    io.stderr(
      `${head("E_INTERNAL")}${visible(text.message)}\n  This is a bug in dimsync, not in your files. Please report it with the output of --verbose.\n`,
    );
    if (context.flags.verbose === true) io.stderr(`${(text.stack ?? "").split("\n").map(visible).join("\n")}\n`);
    return 1;
  }
  io.stderr(
    `${head(error.code)}${visible(error.message)}\n${error.command === undefined ? "" : `  ${paint.cyan(visible(error.command))}\n`}`,
  );
  return error.exit;
}
