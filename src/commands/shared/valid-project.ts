import type { Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";
import { toDiagnostic } from "../../model/problem.ts";
import type { Context } from "./context.ts";
import { loadOneProject } from "./project.ts";

/** The project of a command that would mislead where manifests have errors: then they are printed to stderr, and there is none. */
export async function loadValidProject(context: Context): Promise<Project | undefined> {
  const project = await loadOneProject(context);
  const errors = project.problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return project;
  const { diagnosticText } = await import("./report-error.ts");
  for (const problem of errors) context.io.stderr(diagnosticText(context, toDiagnostic(problem, project.locate)));
  return undefined;
}

/** Looks up the lines of problems that show only against the account. */
export async function withLocations<T>({ locate }: Project, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ProblemsError && !error.isLocated ? new ProblemsError(error.problems, locate) : error;
  }
}
