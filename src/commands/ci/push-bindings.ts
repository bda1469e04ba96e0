import { appendFileSync, existsSync } from "node:fs";
import { relative } from "node:path";
import type { CiEnvironment } from "../../ci/environment.ts";
import { pushBindings } from "../../ci/push-bindings.ts";
import type { ExitCode } from "../../model/exit.ts";
import { code, prose } from "../../render/markdown/escape.ts";
import type { Context } from "../shared/context.ts";
import type { CiFlags } from "../shared/flags.ts";
import { setGithubOutputs } from "../shared/github-outputs.ts";
import { loadOneProject } from "../shared/project.ts";

/**
 * Keeps the ids that apply recorded: pushes the bindings file, or sets the output `bindings_file`,
 * so that the workflow uploads it. Returns 4 if the file changed and could not be pushed, because
 * every run has to look up the ids again until it is committed. Does nothing for records in git or
 * PostgreSQL, which have the ids already.
 */
export async function keepBindings(context: Context<CiFlags>, environment: CiEnvironment): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const mode = flags.bindings ?? "push";
  const { settings } = await loadOneProject(context);
  const { folder, bindingsFile: file, target } = settings;
  if (settings.records.store !== "folder" || mode === "none" || !existsSync(file)) return 0;
  const pushed = await pushBindings(environment, { folder, file, target }, { isPushed: mode === "push", env: io.env });
  if (pushed.outcome !== "refused") {
    io.stderr(`dimsync: bindings: ${pushed.outcome}\n`);
    return 0;
  }
  const { GITHUB_OUTPUT: outputFile = "", GITHUB_STEP_SUMMARY: summaryFile = "" } = io.env;
  setGithubOutputs(outputFile, { bindings_file: file });
  if (mode === "upload") return 0;
  const path = relative(cwd, file);
  const why = `The ids that apply recorded could not be pushed. ${pushed.reason} Commit ${path} by hand; it is among this job's artifacts.`;
  io.stderr(`dimsync: E_BINDINGS_NOT_PUSHED: ${why}\n`);
  if (summaryFile !== "") appendFileSync(summaryFile, `\n> [!WARNING]\n> ${prose(why)} ${code(path)}\n`);
  return 4;
}
