import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import { type Diagnostic, toDiagnostic } from "../model/problem.ts";
import { diagnosticLines } from "../render/human/diagnostics.ts";
import { screenOf } from "../render/human/screen.ts";
import { visible } from "../render/visible.ts";
import { type Context, wantsColor } from "./context.ts";
import { writeGithubFailure } from "./github-outputs.ts";

/** A diagnostic as stderr shows it. */
export function diagnosticText(context: Context, diagnostic: Diagnostic): string {
  const screen = screenOf({
    color: wantsColor(context, context.io.stderrIsTty),
    width: context.io.columns,
    verbose: context.flags.verbose === true,
  });
  return `${diagnosticLines(diagnostic, screen).join("\n")}\n`;
}

/**
 * Prints a failure to stderr and returns the exit code that it carries. What is no DimsyncError is a bug: its stack is shown with --verbose. For
 * `-o github` the step's outputs are set, and the failure is an annotation too.
 */
export function reportError(context: Context, error: unknown): ExitCode {
  const exit = printError(context, error);
  if (!context.flags.output?.some((text) => text.split("=")[0] === "github")) return exit;
  const [code, message] = error instanceof DimsyncError ? [error.code, error.message] : ["E_INTERNAL", "This is a mistake in dimsync."];
  context.io.stdout(writeGithubFailure(context.io.env, { code, message, exit }));
  return exit;
}

function printError(context: Context, error: unknown): ExitCode {
  const { io } = context;
  if (error instanceof ProblemsError) {
    const diagnostics =
      "diagnostics" in error && Array.isArray(error.diagnostics)
        ? (error.diagnostics as readonly Diagnostic[])
        : error.problems.map((problem) => toDiagnostic(problem, ({ file }) => ({ file })));
    for (const diagnostic of diagnostics) io.stderr(diagnosticText(context, diagnostic));
    return error.exit;
  }
  const { paint } = screenOf({ color: wantsColor(context, io.stderrIsTty), width: io.columns, verbose: false });
  const head = (code: string): string => `dimsync: ${paint.red(code)}: `;
  if (!(error instanceof DimsyncError)) {
    const text = error instanceof Error ? error : new Error(String(error));
    io.stderr(
      `${head("E_INTERNAL")}${visible(text.message)}\n  This is a mistake in dimsync, not in your files. Please report it with what --verbose prints.\n`,
    );
    if (context.flags.verbose === true) io.stderr(`${text.stack}\n`);
    return 1;
  }
  io.stderr(
    `${head(error.code)}${visible(error.message)}\n${error.command === undefined ? "" : `  ${paint.cyan(visible(error.command))}\n`}`,
  );
  return error.exit;
}
