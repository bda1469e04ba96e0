import type { Project } from "../../../core/manifests/project.ts";
import { DimsyncError, LeaseLostError, ProblemsError, ServiceError } from "../../../core/model/errors.ts";
import type { Exit } from "../../../core/model/exit.ts";
import type { Plan, Result } from "../../../core/model/plan.ts";
import type { Diagnostic } from "../../../core/model/problem.ts";
import { driftAccount } from "../../../core/operations/drift.ts";
import type { RunEnvironment } from "../../../core/operations/session.ts";
import { counted } from "../../../core/text/counts.ts";
import type { RunError } from "../views/status.ts";

/** How one run of an account ended. */
export interface RunOutcome {
  readonly exit: Exit;
  /** A DriftReport, unless the run failed before it had one. */
  readonly report?: Plan | undefined;
  /** Present if it applied something. */
  readonly result?: Result | undefined;
  /** Why the run failed; the account is then "failing". */
  readonly error?: RunError | undefined;
  /** Whether the service was overloaded: it responded with 429 or 5xx. */
  readonly isThrottled: boolean;
}

/** Compares the account with its manifests: an object that is blocked is a difference too. Only sends GET. Failures are part of the outcome; throws only the signal's reason. */
export function checkProject(load: () => Promise<Project>, run: RunEnvironment): Promise<RunOutcome> {
  return asOutcome(run.signal, async () => {
    const project = await load();
    const { report } = await driftAccount(project, { failOn: ["blocked"] }, run);
    return reported(report);
  });
}

/** The outcome of a report: one with errors, such as an incomplete read, is a failure. */
export function reported(report: Plan): RunOutcome {
  const { exit, diagnostics } = report;
  if (exit.code !== 1) return { exit, report, isThrottled: false };
  const isThrottled = diagnostics.some(({ severity, status }) => severity === "error" && isOverload(status));
  return { exit, report, error: failureOf(diagnostics), isThrottled };
}

/** The outcome of `work`; its DimsyncErrors are failures. */
export async function asOutcome(signal: AbortSignal, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const failure = error instanceof ProblemsError ? failureOf(error.diagnostics) : errorOf(error);
    const { status } = error instanceof ServiceError ? error : { status: undefined };
    return {
      exit: {
        code: error instanceof DimsyncError ? error.exit : 1,
        reasons: [error instanceof LeaseLostError ? "lock-lost" : failure.code],
      },
      error: failure,
      isThrottled: isOverload(status),
    };
  }
}

const isOverload = (status = 0): boolean => status === 429 || status >= 500;

function errorOf(error: unknown): RunError {
  if (error instanceof DimsyncError) return { code: error.code, message: oneParagraph(error.message, error.command) };
  // A fault of dimsync or of the system; it must not end the controller.
  return { code: "E_INTERNAL", message: error instanceof Error ? error.message : String(error) };
}

/** The first error, with its position, and how many there are. */
function failureOf(diagnostics: readonly Diagnostic[]): RunError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return { code: "E_INCOMPLETE", message: "The account could not be read completely." };
  const place = first.file === undefined ? "" : [first.file, first.line, first.column].filter((part) => part !== undefined).join(":");
  const more = errors.length > 1 ? ` (and ${counted(errors.length - 1, "more error")})` : "";
  return { code: first.code, message: `${place === "" ? "" : `${place}: `}${first.message}${more}` };
}

/** A message and its command for the database and the status page, which have no line for a command. */
export const oneParagraph = (message: string, command: string | undefined): string =>
  command === undefined ? message : `${message.replace(/[.:]$/u, "")}: ${command}`;
