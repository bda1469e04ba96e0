import type { Context } from "../../cli/context.ts";
import type { ResolveFlags } from "../../cli/flags.ts";
import { loadOneProject } from "../../cli/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { changeOf } from "./bind-command.ts";
import { resolveCreates } from "./resolve.ts";

/**
 * `dimsync resolve ADDRESS --created=ID | --not-created` records the outcome of a create whose
 * response was lost; `resolve --run ID --not-created` that of every create that a run left open.
 * Only reads the account, to check the id of `--created`.
 */
export async function runResolve(context: Context<ResolveFlags>, address: string | undefined): Promise<ExitCode> {
  const { flags } = context;
  checkFlags(flags, address);
  const project = await loadOneProject(context, { account: true });
  const options = { address, runId: flags.run, created: flags.created, force: flags.force === true, reason: flags.reason };
  await resolveCreates(project, options, changeOf(context));
  return 0;
}

function checkFlags({ created, notCreated, run, force, reason }: ResolveFlags, address: string | undefined): void {
  const usage = (message: string): DimsyncError => new DimsyncError("E_USAGE", message);
  if ((address === undefined) === (run === undefined)) throw usage("resolve needs exactly one of ADDRESS and --run.");
  if ((created === undefined) === (notCreated !== true)) throw usage("resolve needs exactly one of --created=ID and --not-created.");
  if (created === "") throw usage("The id of --created is empty. Use the id of the object in the account.");
  if (run !== undefined && created !== undefined)
    throw usage("--run needs --not-created: each created object has an id of its own. Resolve it by its address.");
  if (force === true && (reason ?? "").trim() === "") throw usage("--force needs --reason: it is kept in the records.");
}
