import { sortDiagnostics } from "../engine/plan.ts";
import { ruleProblems } from "../kinds/schema-config/program.ts";
import type { Project } from "../manifests/project.ts";
import { combineExits, type Exit, type ExitCode } from "../model/exit.ts";
import type { Validation } from "../model/plan.ts";
import { toDiagnostic } from "../model/problem.ts";
import type { Context } from "./context.ts";
import { checkOutputs, deliver } from "./output.ts";
import { loadProjects } from "./project.ts";

/** `dimsync validate [PATH…]`: everything that can be said without the account. Makes no call. */
export async function runValidate(context: Context, paths: readonly string[]): Promise<ExitCode> {
  await checkOutputs(context);
  const validations = (await loadProjects(context, paths)).map(validationOf);
  await deliver(context, validations);
  return combineExits(validations.map(({ exit }) => exit)).code;
}

function validationOf({ problems, locate, resources, files }: Project): Validation {
  const diagnostics = sortDiagnostics([...problems, ...ruleProblems(resources)].map((problem) => toDiagnostic(problem, locate)));
  const failed = diagnostics.some(({ severity }) => severity === "error");
  const exit: Exit = failed ? { code: 1, reasons: ["errors"] } : { code: 0, reasons: [] };
  return { kind: "Validation", manifests: resources.length, files: files.length, diagnostics, exit };
}
