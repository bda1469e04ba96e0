import { randomUUID } from "node:crypto";
import { appendFileSync, statSync } from "node:fs";
import { DimsyncError, messageOf } from "../core/base/model/errors.ts";
import type { ExitCode } from "../core/base/model/exit.ts";
import { defined } from "../core/base/model/json/json.ts";
import type { Validation } from "../core/base/model/plan.ts";
import type { Diagnostic } from "../core/base/model/problem.ts";
import { placeText } from "../core/base/model/problem.ts";
import type { Environment } from "../core/base/model/settings/env.ts";
import { masked } from "../core/base/model/settings/secret.ts";
import type { Code } from "../core/base/model/titles.ts";
import { visible } from "../core/base/text/control-characters.ts";
import { joinParts, moreOf } from "../core/base/text/lists.ts";
import { workflowCommand } from "../core/base/text/workflow-commands.ts";
import type { Document } from "../core/render/index.ts";
import { annotationsOf, targetPlace } from "../core/render/index.ts";
import type { AnnotationOptions } from "../core/render/machine/index.ts";
import { annotations, githubPieces, summaryLimitBytes } from "../core/render/machine/index.ts";
import { code, prose } from "../core/render/markdown/index.ts";

/** What a step of GitHub Actions gets besides its log. */
interface StepPieces {
  /** Markdown; "" for none. */
  readonly summary: string;
  /** By name; each is written once. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** The summary of the documents, as far as the step's summary has room, and the outputs. */
export function stepPieces(env: Environment, documents: readonly Document[], { planFile = "", filePrefix = "" } = {}): StepPieces {
  // All commands of a step share its summary, and GitHub drops a summary that is too large.
  const { GITHUB_STEP_SUMMARY: file = "" } = env;
  const used = file === "" ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  return githubPieces(documents, { room: summaryLimitBytes - used, planFile, filePrefix });
}

/** Appends to the files that GitHub Actions names in the environment, if any. Throws E_OUTPUT. */
export function writeGithubStep(env: Environment, { summary, outputs }: StepPieces): void {
  const { GITHUB_STEP_SUMMARY: summaryFile = "", GITHUB_OUTPUT: outputFile = "" } = env;
  if (summaryFile !== "" && summary !== "") append("GITHUB_STEP_SUMMARY", summaryFile, summary);
  if (outputFile !== "") append("GITHUB_OUTPUT", outputFile, outputsText(outputs));
}

/** What a failure without a document adds: a part of the summary, the line that sums it up, and annotations. */
interface FailurePieces {
  readonly summary: string;
  readonly line: string;
  /** Whole lines, for `writeCommands`. */
  readonly annotations: string;
}

/** An error that ended a command. */
export interface CommandFailure {
  readonly code: Code;
  readonly message: string;
  readonly exit: ExitCode;
  /** Problems in the user's files, if they are the reason. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A failure, and the Markdown heading of what was not made because of it, such as "No plan for `prod`". */
export interface TitledFailure extends CommandFailure {
  readonly title?: string;
}

/** Problems are shown at their lines. */
export function failurePieces({ title, ...failure }: TitledFailure, options: AnnotationOptions): FailurePieces {
  const pieces = untitledPieces(failure, options);
  return title === undefined ? pieces : { ...pieces, summary: `${[`## ${title}`, ...failureReasons(failure)].join("\n\n")}\n` };
}

const mostReasons = 20;

/** Why there is no document, in Markdown: a paragraph for each problem, at most 20, each with its place. */
export function failureReasons({ code: name, message, diagnostics }: CommandFailure): readonly string[] {
  if (diagnostics.length === 0) return [`${code(name)}: ${prose(message)}`];
  const reasons = diagnostics.map((one) => `${code(joinParts([one.rule, placeText(one)], " "))}: ${prose(one.message)}`);
  return [
    ...reasons.slice(0, mostReasons),
    ...(reasons.length > mostReasons ? [`… ${moreOf(reasons.length - mostReasons, "problem")}.`] : []),
  ];
}

function untitledPieces({ code, message, exit, diagnostics }: CommandFailure, options: AnnotationOptions): FailurePieces {
  if (diagnostics.length === 0)
    return {
      summary: `## ${prose(code)}\n\n${prose(message)}\n`,
      line: visible(`${code}: ${message}`).slice(0, 1_000),
      annotations: `${workflowCommand("error", [["title", `dimsync: ${targetPlace(code, options.filePrefix)}`]], visible(message))}\n`,
    };
  const document: Validation = { kind: "Validation", manifests: 0, files: 0, findings: diagnostics, exit: { code: exit, reasons: [] } };
  const { summary, outputs } = githubPieces([document], defined({ filePrefix: options.filePrefix }));
  const lines = annotations(annotationsOf(document), options);
  return { summary, line: outputs.summary_line, annotations: lines.map((line) => `${line}\n`).join("") };
}

/** In the form that allows any value: between two lines with a random delimiter. */
function outputsText(outputs: StepPieces["outputs"]): string {
  const text = Object.entries(outputs).map(([name, value]) => {
    const delimiter = `dimsync_${randomUUID()}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  return text.join("");
}

/** Throws E_OUTPUT. */
function append(variable: string, file: string, text: string): void {
  try {
    appendFileSync(file, masked(text));
  } catch (error) {
    throw new DimsyncError(
      "E_OUTPUT",
      `The file ${file} in ${variable} could not be written: ${messageOf(error)}. In a container, mount the file or unset the variable.`,
      { cause: error },
    );
  }
}
