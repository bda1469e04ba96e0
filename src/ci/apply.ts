import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Context } from "../cli/context.ts";
import type { CiFlags } from "../cli/flags.ts";
import { setGithubOutputs, writeGithubFiles } from "../cli/github-outputs.ts";
import { checkOutputs, deliver } from "../cli/output.ts";
import { loadOneProject, loadProjects } from "../cli/project.ts";
import { say } from "../cli/say.ts";
import type { CiEnvironment } from "../forge/environment.ts";
import { DimsyncError } from "../model/errors.ts";
import { combineExits, type ExitCode } from "../model/exit.ts";
import type { Plan } from "../model/plan.ts";
import type { Result } from "../model/result.ts";
import { githubPieces } from "../render/machine/github.ts";
import { code, prose } from "../render/markdown/escape.ts";
import { applyInTurn, artifactSuffix, type JobOutputs, splitOutputs, type TargetSteps } from "./apply-job.ts";
import { plansIn, resultsIn } from "./documents.ts";
import { pushBindings } from "./push-bindings.ts";

type CiContext = Context<CiFlags>;

/** A job of `dimsync ci apply`. */
export interface ApplyJob {
  readonly environment: CiEnvironment;
  /** For files of this run only. */
  readonly folder: string;
  /** A saved plan to apply; undefined: the job makes its own. */
  readonly planFile: string | undefined;
}

/** The apply of one target. */
interface TargetRun {
  readonly context: CiContext;
  /** A plan that the user saved; undefined: make one. */
  readonly saved: string | undefined;
  /** Where to save a plan of our own. */
  readonly planFile: string;
  /** Collects the documents of the target: its result, or a plan without changes. */
  readonly documents: (Plan | Result)[];
}

/**
 * `dimsync ci apply [FILE]`: makes a plan of each target, saves it and applies exactly that plan,
 * which also works for protected targets. With a file, applies that plan. Pushes the bindings after
 * each target.
 */
export async function ciApply(context: CiContext, job: ApplyJob): Promise<ExitCode> {
  const { flags, io, cwd } = context;
  if (flags.allTargets === true) throw new DimsyncError("E_USAGE", "dimsync ci apply takes each target by name. Name them with -t.");
  checkOutputs(context);
  // An unknown target is reported before the first one is written to.
  const projects = await loadProjects(context);
  if (job.planFile !== undefined && projects.length > 1)
    throw new DimsyncError("E_USAGE", "A saved plan is for one target. Name it with -t.");
  const outputs = splitOutputs(flags.output);
  const documents: (Plan | Result)[] = [];
  const saved = job.planFile === undefined ? undefined : resolve(cwd, job.planFile);
  const eventsFiles: string[] = [];
  const steps = targetsOf(flags).map((target, index): TargetSteps => {
    const eventsFile = join(job.folder, `events-${index}.ndjson`);
    eventsFiles.push(eventsFile);
    const ofTarget = targetContext(context, outputs, { target, eventsFile });
    const run: TargetRun = { context: ofTarget, saved, planFile: join(job.folder, `plan-${index}.json`), documents };
    return { apply: () => applyTarget(run), keepBindings: () => keepBindings(ofTarget, job.environment) };
  });
  const finish = (): Promise<void> => writeAtEnd(context, outputs, { documents, eventsFiles });
  const exits = await applyInTurn(steps, io.interrupted).catch(async (error: unknown) => {
    // The first failure is the one that is reported.
    await finish().catch(() => undefined);
    throw error;
  });
  await finish();
  const code = io.interrupted.aborted ? 130 : combineExits(exits.map((exit) => ({ code: exit, reasons: [] }))).code;
  const targets = projects.map(({ settings }) => settings.target);
  if (flags.output.some((text) => text.split("=")[0] === "github"))
    setGithubOutputs(io.env["GITHUB_OUTPUT"] ?? "", {
      ...githubPieces(documents).outputs,
      exit_code: String(code),
      artifact_suffix: artifactSuffix(job.environment.folder, targets),
    });
  return code;
}

/** The values of -t, one target each; one empty list if there is no -t. */
const targetsOf = ({ target }: CiFlags): readonly (readonly string[])[] =>
  target.length === 0 ? [[]] : [...new Set(target)].map((one) => [one]);

function targetContext(
  context: CiContext,
  outputs: JobOutputs,
  { target, eventsFile }: { readonly target: readonly string[]; readonly eventsFile: string },
): CiContext {
  const { io, flags } = context;
  const { metrics: _, ...rest } = flags;
  const output = [...outputs.perTarget, ...(outputs.eventFiles.length === 0 ? [] : [`ndjson=${eventsFile}`])];
  return { ...context, io: outputs.isStdoutTaken ? { ...io, stdout: io.stderr } : io, flags: { ...rest, target, output } };
}

async function writeAtEnd(
  context: CiContext,
  outputs: JobOutputs,
  { documents, eventsFiles }: { readonly documents: readonly (Plan | Result)[]; readonly eventsFiles: readonly string[] },
): Promise<void> {
  const { io, flags, cwd } = context;
  const written = eventsFiles.filter((file) => existsSync(file));
  for (const path of outputs.eventFiles) for (const file of written) appendFileSync(resolve(cwd, path), readFileSync(file));
  const stdout = outputs.isStdoutTaken ? io.stdout : () => {};
  if (documents.length > 0) await deliver({ ...context, io: { ...io, stdout }, flags: { ...flags, output: outputs.atEnd } }, documents);
}

async function applyTarget(run: TargetRun): Promise<ExitCode> {
  const { context, saved, planFile, documents } = run;
  const { flags, io } = context;
  if (saved !== undefined) {
    const { readSavedPlan } = await import("../operations/core/saved-plan.ts");
    await showPlans(context, [await readSavedPlan(saved, io.env["DIMSYNC_DIGEST_KEY"])]);
    return await applyPlan(run, saved);
  }
  const plansFile = `${planFile}.plans`;
  const { runPlan } = await import("../commands/core/plan.ts");
  const planFlags = { ...flags, output: [`json=${plansFile}`], out: planFile, detailedExitcode: false };
  const code = await runPlan({ ...context, io: { ...io, stdout: () => {} }, flags: planFlags }, []);
  const plans = await plansIn(plansFile);
  if (code !== 0 || plans.every(({ items, deferred, held = [] }) => items.length + deferred.length + held.length === 0)) {
    documents.push(...plans);
    await deliver(context, plans);
    return code;
  }
  await showPlans(context, plans);
  return await applyPlan(run, planFile);
}

/** Shows a plan in the log and in the step's summary before it is applied. */
async function showPlans(context: CiContext, plans: readonly Plan[]): Promise<void> {
  const { flags, io } = context;
  const stdout = flags.output.includes("ndjson") ? io.stderr : io.stdout;
  await deliver({ ...context, io: { ...io, stdout }, flags: { ...flags, output: [] } }, plans);
  if (flags.output.includes("github")) writeGithubFiles(io.env, plans, "");
}

async function applyPlan({ context, planFile, documents }: TargetRun, file: string): Promise<ExitCode> {
  const { flags } = context;
  const resultsFile = `${planFile}.results`;
  const { runApply } = await import("../commands/core/apply.ts");
  try {
    return await runApply({ ...context, flags: { ...flags, output: [...flags.output, `json=${resultsFile}`] } }, file);
  } finally {
    documents.push(...(await resultsIn(resultsFile)));
  }
}

/**
 * Keeps the ids that apply recorded: pushes the bindings file, or sets the output `bindings_file`,
 * so that the workflow uploads it. Returns 4 if the file changed and could not be pushed, because
 * every run has to look up the ids again until it is committed. Does nothing for records in git or
 * PostgreSQL, which have the ids already.
 */
async function keepBindings(context: Context<CiFlags>, environment: CiEnvironment): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const mode = flags.bindings ?? "push";
  const { settings } = await loadOneProject(context);
  const { folder, bindingsFile: file, target } = settings;
  if (settings.records.store !== "folder" || mode === "none" || !existsSync(file)) return 0;
  const pushed = await pushBindings(environment, { folder, file, target }, { isPushed: mode === "push", env: io.env });
  if (pushed.outcome !== "refused") {
    say(io, `bindings: ${pushed.outcome}`);
    return 0;
  }
  const { GITHUB_OUTPUT: outputFile = "", GITHUB_STEP_SUMMARY: summaryFile = "" } = io.env;
  setGithubOutputs(outputFile, { bindings_file: file });
  if (mode === "upload") return 0;
  const path = relative(cwd, file);
  const why = `The ids that apply recorded could not be pushed. ${pushed.reason} Commit ${path} by hand; it is among this job's artifacts.`;
  say(io, `E_BINDINGS_NOT_PUSHED: ${why}`);
  if (summaryFile !== "") appendFileSync(summaryFile, `\n> [!WARNING]\n> ${prose(why)} ${code(path)}\n`);
  return 4;
}
