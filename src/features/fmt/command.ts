import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { FmtFlags } from "../../cli/flags.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { diagnosticText } from "../../cli/report-error.ts";
import { say } from "../../cli/say.ts";
import { findConfig } from "../../core/manifests/config/file.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { toDiagnostic } from "../../core/model/problem.ts";
import { visible } from "../../core/text/control-characters.ts";
import { type Formatted, newFormatter } from "./format-files.ts";

/**
 * `dimsync fmt [PATH…]`: writes manifests (without paths also the config file) in canonical form and prints the names of changed files. With --check it
 * changes nothing and returns 2 if a file would change. Returns 1 if a file cannot be read or is not valid YAML.
 */
export async function runFmt(context: Context<FmtFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const projects = await loadAnyProjects({ ...context, flags: { ...flags, only: [], exclude: [] } }, { paths, interruptible: true });
  const config =
    paths.length > 0 ? undefined : findConfig({ cwd, env: io.env, ...(flags.config === undefined ? {} : { configFile: flags.config }) });
  const files = new Set([
    ...(config === undefined ? [] : [config]),
    ...projects.flatMap((project) => project.files.map((file) => resolve(cwd, file))),
  ]);
  const pathProblems = paths.length === 0 ? [] : (projects[0]?.problems ?? []).filter(({ code }) => pathCodes.has(code));
  for (const problem of pathProblems)
    io.stderr(
      diagnosticText(
        context,
        toDiagnostic(problem, () => ({ file: "" })),
      ),
    );
  const outcomes: Formatted["outcome"][] = [];
  const format = newFormatter({ cwd, check: flags.check === true, signal: io.interrupted });
  for (const path of files) {
    io.interrupted.throwIfAborted();
    const formatted = await withSignalsCaught(io, () => format(path));
    outcomes.push(formatted.outcome);
    if (formatted.outcome === "failed") for (const message of formatted.messages) say(io, message);
    else if (formatted.outcome === "changed") io.stdout(`${visible(formatted.file)}\n`);
  }
  const changed = outcomes.filter((outcome) => outcome === "changed").length;
  if (flags.check === true && changed > 0) say(io, `${changed} of ${files.size} files are not in canonical form. Run dimsync fmt.`);
  if (outcomes.includes("failed") || pathProblems.some(({ severity }) => severity === "error")) return 1;
  return flags.check === true && changed > 0 ? 2 : 0;
}

/** Problems of the paths on the command line. */
const pathCodes: ReadonlySet<string> = new Set(["E_PATH_NOT_FOUND", "W_GLOB_NO_FILE"]);
