import { ProblemsError } from "../model/errors.ts";
import { type Diagnostic, type Locate, type Problem, toDiagnostic } from "../model/problem.ts";

/** The configuration gives no usable settings: nothing else can be done. Carries every problem found so far, with its place looked up. */
export class ConfigError extends ProblemsError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(problems: readonly Problem[], locate: Locate) {
    super(problems);
    this.diagnostics = problems.map((problem) => toDiagnostic(problem, locate));
  }
}
