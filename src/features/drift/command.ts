import { resolve } from "node:path";
import { momentFlag } from "../../cli/argument-values.ts";
import { type Context, commandLine } from "../../cli/context.ts";
import { eachTarget, type MadeOfTarget } from "../../cli/each-target.ts";
import { say, withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, checkWritable, deliver } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions } from "../../cli/project.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { combineExits, type ExitCode } from "../../core/base/model/exit.ts";
import { type Plan, readySteps } from "../../core/base/model/plan.ts";
import { visible } from "../../core/base/text/control-characters.ts";
import { andMore, moreOf } from "../../core/base/text/lists.ts";
import { wholePath } from "../../core/base/text/paths.ts";
import { forTarget, shellWord } from "../../core/base/text/shell.ts";
import { acceptInFiles, type SharedEdit } from "../../core/drift/accept/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { type Drift, driftAccount } from "../../core/operations/index.ts";
import type { DriftFlags } from "./index.ts";

/** `dimsync drift`: reports how the account differs, who changed it, and what to do. Never writes to the account; --resolve writes manifests or a plan file. */
export async function runDrift(context: Context<DriftFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { flags, io, cwd } = context;
  checkOutputs(context);
  const since = flags.since === undefined ? undefined : momentFlag("--since", flags.since, Date.now());
  const failOn = failOnFlags(flags.failOn, "DriftReport");
  const revertTo = flags.resolve === "revert" ? resolve(cwd, flags.out ?? "revert.plan.json") : undefined;
  if (revertTo !== undefined) checkWritable("--out", flags.out ?? "revert.plan.json", revertTo);
  const found = await eachTarget(context, paths, (project, options, run) =>
    driftAccount(
      project,
      {
        ...options,
        failOn,
        ...(since === undefined ? {} : { since }),
        revert: revertTo !== undefined,
      },
      run,
    ),
  );
  const reported = found.map(({ project, made: { report } }) => ({ project, report }));
  await deliver(
    context,
    reported.map(({ report }) => report),
    { isResolved: flags.resolve !== undefined },
  );
  for (const { project, report } of reported) {
    if (flags.resolve === "accept") await withSignalsCaught(io, () => acceptReport(context, project, report));
  }
  if (revertTo !== undefined) await saveRevert(context, revertTo, found);
  return combineExits(reported.map(({ report }) => report.exit)).code;
}

/** `--resolve accept`: edits the manifests and prints the edits on stderr, with the differences that could not be accepted. Throws like `acceptInFiles`. */
export async function acceptReport(context: Context<DriftFlags>, project: Project, report: Plan): Promise<void> {
  const { io } = context;
  const load = loadOptions(context, []);
  const { edits, accepted, unaccepted, shared } = await acceptInFiles(project, report, {
    load,
    onShared: (all) => io.stderr(sharedText(all)),
  });
  for (const { diff } of edits) io.stderr(`${diff.split(/\r?\n/u).map(visible).join("\n").trimEnd()}\n`);
  const files = edits.length === 0 ? "No file was changed." : `Changed ${edits.map(({ file }) => file).join(", ")}.`;
  io.stderr(`${visible(files)} Differences accepted: ${accepted.length}, not accepted: ${unaccepted.length}.\n`);
  for (const { address, path, why } of unaccepted)
    io.stderr(`  ${visible(address)}${path === "" ? "" : ` ${visible(path)}`}\n    ${visible(why)}\n`);
  if (edits.length > 0) io.stderr("Review the diff, then commit it.\n");
  const others = [...new Set(shared.flatMap(({ targets }) => targets))];
  if (others.length === 0) return;
  const commands = others.map((name) => `  dimsync plan -t ${shellWord(name)}\n`).join("");
  io.stderr(`These files also belong to other targets. Check their plans before you commit:\n${commands}`);
}

/** What changes for other targets, one value a line. */
const sharedText = (shared: readonly SharedEdit[]): string =>
  shared
    .map(({ file, targets, values }) => {
      const lines = values.map(({ address, path, value }) => `${address} ${wholePath(path)}: ${String(value)}`);
      const shown = lines.length > mostShared ? [...lines.slice(0, mostShared), `… ${moreOf(lines.length - mostShared, "value")}`] : lines;
      const head = `${file} also belongs to ${targets.length === 1 ? "target" : "targets"} ${andMore(targets, "target")}. Accepting the drift changes there:`;
      return [visible(head), ...shown.map((line) => `  ${visible(line)}`), ""].join("\n");
    })
    .join("");

const mostShared = 20;

/** Saves a plan that undoes the drift; `dimsync apply FILE` runs it. */
async function saveRevert(context: Context<DriftFlags>, file: string, found: readonly MadeOfTarget<Drift>[]): Promise<void> {
  const [only, second] = found;
  if (only?.made.revert === undefined || second !== undefined)
    throw new DimsyncError("E_USAGE", "--resolve revert saves the plan of one target. Select it with -t NAME.");
  const { savePlan } = await import("../../core/operations/index.ts");
  const { io } = context;
  const { revert } = only.made;
  if (!readySteps(revert).some(({ verb }) => verb !== "bind")) return say(io, "no plan was saved: no request can undo the drift.");
  await withSignalsCaught(io, () => savePlan(file, revert, { env: io.env, signal: io.interrupted }));
  const command = forTarget(commandLine(context, `dimsync apply ${shellWord(file)}`), only.project.settings);
  say(io, "saved a plan that undoes the drift. To apply it:", command);
}
