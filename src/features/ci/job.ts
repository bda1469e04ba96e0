import type { Context } from "../../cli/context.ts";
import { type CommandFailure, failurePieces, stepPieces, type TitledFailure, writeGithubStep } from "../../cli/github-outputs.ts";
import { type Destination, destinations, filePrefix } from "../../cli/output.ts";
import { orIgnored, printError } from "../../cli/report-error.ts";
import { type ReviewBase, reviewBase } from "../../core/base/git/base.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { combineExits, type Exit, type ExitCode } from "../../core/base/model/exit.ts";
import { defined } from "../../core/base/model/json/json.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { visible } from "../../core/base/text/control-characters.ts";
import { joinParts } from "../../core/base/text/lists.ts";
import { type Write, writeCommands } from "../../core/base/text/workflow-commands.ts";
import type { Project } from "../../core/manifests/index.ts";
import type { CiEnvironment } from "../../core/operations/forge/index.ts";
import { annotationsOf, type Document, type RenderOptions } from "../../core/render/index.ts";
import { annotations } from "../../core/render/machine/index.ts";
import { changedLines } from "./changed-files.ts";
import type { CiFlags } from "./index.ts";

/**
 * A job of GitHub Actions or GitLab CI. Nothing that it writes to the forge decides whether the job
 * succeeds: a failure is only a warning.
 */
export interface CiJob {
  readonly environment: CiEnvironment;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** What the job is reviewed against; undefined if that was reviewed already. Throws E_BASE_UNREADABLE. */
  readonly base: () => Promise<ReviewBase | undefined>;
  /** Takes whole lines. */
  readonly log: Write;
}

export type CiContext = Context<CiFlags>;

/**
 * What a job is reviewed against: the branch that apply watches, whatever branch the author of a pull request chose as its target. Undefined for a push to that
 * branch, and outside CI without DIMSYNC_APPLIED_BRANCH. Throws E_BASE_UNREADABLE.
 */
export async function baseOfJob(
  { provider, appliedBranch, isAppliedPush }: CiEnvironment,
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): Promise<ReviewBase | undefined> {
  if (isAppliedPush || (provider === "none" && appliedBranch === undefined)) return undefined;
  if (appliedBranch === undefined)
    throw new DimsyncError(
      "E_BASE_UNREADABLE",
      "The job does not say which branch apply watches, so dimsync cannot compare the project with it. No secret was read and there is no plan. Set DIMSYNC_APPLIED_BRANCH to the name of the branch, such as main. dimsync reads it from the file in GITHUB_EVENT_PATH or from CI_DEFAULT_BRANCH; if the job runs in a container, pass them to it.",
    );
  return await reviewBase(cwd, appliedBranch, env);
}

/** The format on stdout: the one of `-o` without a path, else the one that the log of the job shows best. */
export function stdoutFormat({ flags }: CiContext, { environment }: CiJob): string {
  return flags.output.find((text) => !text.includes("=")) ?? (environment.provider === "github" ? "github" : "human");
}

/** Where the documents of a job go. Throws E_OUTPUT. */
export function jobDestinations(context: CiContext, job: CiJob): readonly Destination[] {
  const onStdout = stdoutFormat(context, job);
  return destinations(context).map((one) => (one.file === undefined ? { format: onStdout } : one));
}

/** What a job did. */
interface JobReport {
  readonly documents: readonly Document[];
  /** What targets without a document failed with. */
  readonly failures: readonly TitledFailure[];
  /** More outputs of the step. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** The absolute path of the saved plan. */
  readonly planFile?: string;
  /** Whether the summary already has the documents. */
  readonly isSummarized?: boolean;
  /** What else the step says. */
  readonly notes?: readonly StepNote[];
  /** What `touchedLines` returned, if it was asked before. */
  readonly touched?: Touched;
}

/** What a step says that is in no document. */
export interface StepNote {
  /** Markdown. */
  readonly text: string;
  /** For the output `summary_line`. */
  readonly line: string;
}

type Touched = Pick<RenderOptions, "touches">;

/**
 * Writes what a step of GitHub Actions gets besides its log: the summary, each output once, and the annotations. Returns the exit
 * code of the job. Throws E_OUTPUT.
 */
export async function endJob(context: CiContext, job: CiJob, report: JobReport): Promise<ExitCode> {
  const { io } = context;
  const { documents, failures, planFile, isSummarized = false, notes = [] } = report;
  const ofFailures = failures.map(({ exit, code }): Exit => ({ code: exit, reasons: [code] }));
  const all = combineExits([...documents.map(({ exit }) => exit), ...ofFailures]);
  const code = io.interrupted.aborted ? 130 : all.code;
  if (!isStep(context, job)) return code;
  const places = { filePrefix: filePrefix(context), ...(report.touched ?? (await touchedLines(context, job, report))) };
  const failed = failures.map((failure) => failurePieces(failure, places));
  const pieces = stepPieces(io.env, documents, { ...defined({ planFile }), filePrefix: filePrefix(context) });
  const summary = joinParts(
    [isSummarized ? "" : pieces.summary, ...notes.map(({ text }) => text), ...failed.map((one) => one.summary)],
    "\n",
  );
  const lines = [pieces.outputs["summary_line"] ?? "", ...notes.map(({ line }) => visible(line)), ...failed.map(({ line }) => line)];
  const outputs = { ...pieces.outputs, exit_code: String(code), summary_line: joinParts(lines, " · "), ...report.outputs };
  const write = (): void => writeGithubStep(io.env, { summary, outputs });
  if (failures.length > 0) orIgnored(write);
  else write();
  // The runner also reads annotations on stderr; stdout may belong to another format.
  const isOnStdout = stdoutFormat(context, job) === "github";
  const ofDocuments = isOnStdout ? [] : annotations(documents.flatMap(annotationsOf), places).map((line) => `${line}\n`);
  writeCommands(isOnStdout ? io.stdout : io.stderr, [...ofDocuments, ...failed.map((one) => one.annotations)].join(""));
  return code;
}

/** In a pull request: which of the lines that the findings are at it touches. */
export async function touchedLines(
  { cwd }: CiContext,
  { environment: { isPullRequest }, env, base: ofJob }: CiJob,
  { documents, failures }: Pick<JobReport, "documents" | "failures">,
): Promise<Touched> {
  const base = isPullRequest ? await ofJob().catch(() => undefined) : undefined;
  if (base === undefined) return {};
  const places = [...documents.flatMap(annotationsOf), ...failures.flatMap(({ diagnostics }) => diagnostics)];
  const files = places.flatMap(({ file }) => (file === undefined ? [] : [file]));
  const touches = await changedLines({ folder: cwd, env }, base.commit, files);
  return touches === undefined ? {} : { touches };
}

/** Whether the job has a summary and outputs to write. */
export const isStep = ({ flags }: CiContext, { environment }: CiJob): boolean =>
  environment.provider === "github" || flags.output.some((text) => text.split("=")[0] === "github");

/** A target without a document. */
export interface FailedTarget {
  readonly target: string;
  readonly failure: CommandFailure;
}

interface JobTargets<T> {
  readonly made: readonly { readonly project: Project; readonly document: T }[];
  readonly failed: readonly FailedTarget[];
}

/** Makes a document of each target. What one fails with is printed, and the others go on. Throws if the job is interrupted. */
export async function eachJobTarget<T>(
  context: CiContext,
  projects: readonly Project[],
  make: (project: Project) => Promise<T>,
): Promise<JobTargets<T>> {
  const made: { readonly project: Project; readonly document: T }[] = [];
  const failed: FailedTarget[] = [];
  for (const project of projects)
    try {
      made.push({ project, document: await make(project) });
    } catch (error) {
      if (context.io.interrupted.aborted) throw error;
      failed.push({ target: project.settings.target, failure: printError(context, error) });
    }
  return { made, failed };
}

/**
 * The project's folder and the targets as part of an artifact's name, such as "deploy-eu-prod".
 * Jobs of one run must not use the same name, and a name must not contain slashes.
 */
export function artifactSuffix(folder: string, targets: readonly string[]): string {
  return [folder, ...targets]
    .filter((text) => text !== "")
    .map((text) => text.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-"))
    .join("-");
}

/** The names of the targets, and their artifacts. */
export const targetsOutput = ({ environment }: CiJob, projects: readonly Project[]): Readonly<Record<"artifact_suffix", string>> => ({
  artifact_suffix: artifactSuffix(
    environment.folder,
    projects.map(({ settings }) => settings.target),
  ),
});
