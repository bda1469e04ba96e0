import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type Context, wantsColor } from "../../cli/context.ts";
import type { ApplyFlags } from "../../cli/flags.ts";
import { checkOutputs, checkWritable, deliver } from "../../cli/output.ts";
import { applyOptions, refuseReadOnly } from "../../cli/plan-options.ts";
import { withRun } from "../../cli/progress.ts";
import { loadProjects } from "../../cli/project.ts";
import { DimsyncError, messageOf } from "../../core/base/model/errors.ts";
import { combineExits, type Exit, type ExitCode } from "../../core/base/model/exit.ts";
import { defined } from "../../core/base/model/json/json.ts";
import type { Plan, Result } from "../../core/base/model/plan.ts";
import { masked } from "../../core/base/model/settings/secret.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import type { Project } from "../../core/manifests/index.ts";
import type { ApplyAccountOptions } from "../../core/operations/index.ts";
import { applyAccount } from "../../core/operations/index.ts";

/** `dimsync apply [FILE]`: sends the requests of a plan, verifies the responses, records the ids. */
export async function runApply(context: Context<ApplyFlags>, file: string | undefined): Promise<ExitCode> {
  const { flags, cwd, io } = context;
  checkOutputs(context);
  refuseReadOnly(context);
  if (file === undefined && flags.yes !== true && !(io.stdinIsTty && io.stderrIsTty))
    throw new DimsyncError("E_NOT_CONFIRMED", "apply asks for confirmation, but there is no terminal. Pass --yes, or apply a saved plan.", {
      command: "dimsync plan --out plan.json && dimsync apply plan.json",
    });
  const resultFile = flags.result === undefined ? undefined : resolve(cwd, flags.result);
  if (flags.result !== undefined && resultFile !== undefined) checkWritable("--result", flags.result, resultFile);
  const projects = await loadProjects(context, { account: true, interruptible: true });
  if (file !== undefined) refuseManifests(file, resolve(cwd, file), projects);
  if (file !== undefined && projects.length > 1)
    throw new DimsyncError("E_USAGE", "A saved plan is for one target. Select it with -t NAME.");

  // An error in one target, or a file that cannot be written, must not lose the results of the others.
  const results: Result[] = [];
  const failures: unknown[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => failures.push(error));
  };
  for (const project of projects) {
    await attempt(async () => {
      results.push(await applyTarget(context, project, file === undefined ? undefined : resolve(cwd, file)));
    });
    if (resultFile !== undefined && results.length > 0) await attempt(() => keepResults(resultFile, results));
    if (failures.length > 0 || io.interrupted.aborted) break;
  }
  if (results.length > 0) await attempt(() => deliver(context, results));
  const [only] = failures;
  if (failures.length > 0 && results.length === 0) throw only;
  const { reportError } = await import("../../cli/report-error.ts");
  const failed = failures.map((error): Exit => ({ code: reportError(context, error), reasons: [] }));
  return combineExits([...results.map(({ exit }) => exit), ...failed]).code;
}

/** `apply manifests/orders.yaml`, as in kubectl. Throws E_USAGE with the command that applies these manifests. */
function refuseManifests(shown: string, path: string, projects: readonly Project[]): void {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder && !/\.ya?ml$/iu.test(path)) return;
  const prefix = shown.replace(/^\.\//u, "").replace(/\/+$/u, "");
  const addresses = projects.flatMap(({ manifests }) =>
    manifests.filter(({ place: { file } }) => file === prefix || file.startsWith(`${prefix}/`)).map(({ address }) => address),
  );
  const unique = [...new Set(addresses)];
  const isFew = unique.length > 0 && unique.length <= maxOnly;
  throw new DimsyncError(
    "E_USAGE",
    `apply takes a saved plan, and ${JSON.stringify(shown)} is ${isFolder ? "a directory" : "a YAML file"}. The config names the manifests that apply uses; to apply only some of them, use --only.`,
    { command: `dimsync apply ${(isFew ? unique : ["Kind/name"]).map((address) => `--only ${shellWord(address)}`).join(" ")}` },
  );
}

/** Longer commands are not readable. */
const maxOnly = 5;

/** Throws E_OUTPUT (exit 4): the account was changed, but the result is not recorded. */
async function keepResults(file: string, results: readonly Result[]): Promise<void> {
  const { writeAtomic } = await import("../../core/records/index.ts");
  const text = masked(jsonDocument(results.length === 1 ? results[0] : results));
  await writeAtomic(file, text, { newMode: 0o600 }).catch((error: unknown) => {
    const why = messageOf(error);
    throw new DimsyncError("E_OUTPUT", `The result could not be written to ${file}: ${why}. It is printed instead.`, {
      exit: 4,
      cause: error,
    });
  });
}

async function applyTarget(context: Context<ApplyFlags>, project: Project, file: string | undefined): Promise<Result> {
  const { flags, io } = context;
  const saved = file === undefined ? undefined : await (await import("../../core/operations/index.ts")).readSavedPlan(file, io.env);
  const options: ApplyAccountOptions = { ...applyOptions(context), ...defined({ saved }) };
  const isAsked = flags.yes !== true && saved === undefined;
  const { result } = await withRun(context, (run, clear) =>
    applyAccount(project, isAsked ? { ...options, confirm: (plan) => ask(context, plan, clear) } : options, run),
  );
  return result;
}

/** Shows the plan on stderr and asks for confirmation: "y" or "yes". */
async function ask(context: Context<ApplyFlags>, plan: Plan, clearProgress: () => void): Promise<boolean> {
  const { io, flags } = context;
  clearProgress();
  const { renderHuman } = await import("../../core/render/terminal/index.ts");
  io.stderr(
    renderHuman(plan, {
      color: wantsColor(context, io.stderrIsTty),
      width: io.columns,
      verbose: flags.verbose === true,
    }),
  );
  const answer = await io.ask(`\nApply this to ${plan.target} (${plan.account})? [y/N] `);
  return /^y(?:es)?$/iu.test(answer.trim());
}
