import { randomUUID } from "node:crypto";
import { appendFileSync, statSync } from "node:fs";
import { DimsyncError } from "../model/errors.ts";
import type { Environment } from "../model/settings/env.ts";
import { masked } from "../model/settings/secret.ts";
import type { Document } from "../render/index.ts";
import { githubPieces, summaryLimitBytes } from "../render/machine/github.ts";
import { prose } from "../render/markdown/escape.ts";
import { visible } from "../text/control-characters.ts";
import { workflowCommand } from "../text/workflow-commands.ts";

/** Appends the step summary and the outputs to the files that GitHub Actions names in the environment, if any. Throws E_OUTPUT. */
export function writeGithubFiles(env: Environment, documents: readonly Document[], planFile: string): void {
  const { GITHUB_STEP_SUMMARY: summaryFile = "", GITHUB_OUTPUT: outputFile = "" } = env;
  // All commands of a step share its summary, and GitHub drops a summary that is too large.
  const used = summaryFile === "" ? 0 : (statSync(summaryFile, { throwIfNoEntry: false })?.size ?? 0);
  const { summary, outputs } = githubPieces(documents, { room: summaryLimitBytes - used, planFile });
  if (summaryFile !== "" && summary !== "") append("GITHUB_STEP_SUMMARY", summaryFile, summary);
  setGithubOutputs(outputFile, outputs);
}

/** The same for a command that failed before it had a document. Returns an annotation with the reason. */
export function writeGithubFailure(
  env: Environment,
  failure: { readonly code: string; readonly message: string; readonly exit: number },
): string {
  const { GITHUB_STEP_SUMMARY: summaryFile = "", GITHUB_OUTPUT: outputFile = "" } = env;
  const { code, message, exit } = failure;
  try {
    if (summaryFile !== "") append("GITHUB_STEP_SUMMARY", summaryFile, `## ${prose(code)}\n\n${prose(message)}\n`);
    setGithubOutputs(outputFile, {
      has_changes: "false",
      exit_code: String(exit),
      plan_file: "",
      summary_line: visible(`${code}: ${message}`).slice(0, 1_000),
    });
  } catch (error) {
    // The first error is the one to report, and it may be this one.
    if (!(error instanceof DimsyncError)) throw error;
  }
  return `${workflowCommand("error", [["title", `dimsync: ${code}`]], visible(message))}\n`;
}

/** Appends outputs in the form that allows any value: between two lines with a random delimiter. Throws E_OUTPUT. */
export function setGithubOutputs(file: string, outputs: Readonly<Record<string, string>>): void {
  if (file === "") return;
  const text = Object.entries(outputs).map(([name, value]) => {
    const delimiter = `dimsync_${randomUUID()}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  append("GITHUB_OUTPUT", file, text.join(""));
}

/** Throws E_OUTPUT. */
function append(variable: string, file: string, text: string): void {
  try {
    appendFileSync(file, masked(text));
  } catch (error) {
    throw new DimsyncError(
      "E_OUTPUT",
      `The file ${file} in ${variable} could not be written: ${error instanceof Error ? error.message : String(error)}. In a container, mount the file or unset the variable.`,
      { cause: error },
    );
  }
}
