import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Diagnostic } from "../model/problem.ts";
import type { Validation } from "../model/result.ts";
import { annotations } from "../render/machine/github.ts";
import type { Failure } from "../render/machine/ndjson.ts";
import { findingsOf } from "../render/report/findings.ts";
import { diagnosticLines } from "../render/terminal/diagnostics.ts";
import { screenOf } from "../render/terminal/layout.ts";
import { visible } from "../text/control-characters.ts";
import { writeCommands } from "../text/workflow-commands.ts";
import { type Context, wantsColor } from "./context.ts";
import { writeGithubFailure, writeGithubFiles } from "./github-outputs.ts";
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
  const exit = printError(context, error);
  const [code, message] = error instanceof DimsyncError ? [error.code, error.message] : ["E_INTERNAL", "This is a bug in dimsync."];
  const failure = { code, message, exit, diagnostics: diagnosticsOf(error) };
  const wants = (format: string): boolean => context.flags.output?.some((text) => text.split("=")[0] === format) === true;
  // The runner also reads annotations on stderr; stdout may belong to another format.
  const annotate = context.flags.output?.includes("github") === true ? context.io.stdout : context.io.stderr;
  if (wants("github")) writeCommands(annotate, githubFailure(context, failure));
  // Usage errors are found before a stream starts, and its file may still be that of an earlier run.
  if (wants("ndjson") && code !== "E_USAGE") endStream(context, failure);
  return exit;
}

/** The annotations of an error, with problems at their lines. Also writes the summary and the outputs of the step. */
function githubFailure(context: Context, { diagnostics, ...failure }: Failure & { readonly exit: ExitCode }): string {
  if (diagnostics.length === 0) return writeGithubFailure(context.io.env, failure);
  const document: Validation = { kind: "Validation", manifests: 0, files: 0, diagnostics, exit: { code: failure.exit, reasons: [] } };
  writeGithubFiles(context.io.env, [document], "");
  return annotations(findingsOf(document), filePrefix(context))
    .map((line) => `${line}\n`)
    .join("");
}

function printError(context: Context, error: unknown): ExitCode {
  const { io } = context;
  if (error instanceof ProblemsError) {
    for (const diagnostic of diagnosticsOf(error)) io.stderr(diagnosticText(context, diagnostic));
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

/** The problems that an error consists of, if any. */
function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  return error instanceof ProblemsError ? error.diagnostics : [];
}
