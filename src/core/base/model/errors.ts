import type { ExitCode } from "./exit.ts";
import { type Diagnostic, isError, type Locate, type Problem, toDiagnostic } from "./problem.ts";
import type { Code } from "./titles.ts";

/**
 * A failure that ends a command: it says what is wrong and what to do, and carries the exit code.
 * Its message never contains a secret.
 */
export class DimsyncError extends Error {
  override readonly name: string = "DimsyncError";
  readonly code: Code;
  readonly exit: ExitCode;
  /** A command to run, on its own line. */
  readonly command: string | undefined;

  constructor(
    code: Code,
    message: string,
    options: { readonly exit?: ExitCode; readonly cause?: unknown; readonly command?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.exit = options.exit ?? 1;
    this.command = options.command;
  }
}

/** E_LOCKED (exit 6): this run held the lease of the records, until another run or a user took it away. */
export class LeaseLostError extends DimsyncError {
  override readonly name = "LeaseLostError";

  constructor(message: string) {
    super("E_LOCKED", message, { exit: 6 });
  }
}

/** The user interrupted the run before it was done. */
export const interruptedError = (): DimsyncError => new DimsyncError("E_INTERRUPTED", "The run was interrupted.", { exit: 130 });

/** All problems that keep a command from running, each with its position in the file if it has one. */
export class ProblemsError extends DimsyncError {
  override readonly name = "ProblemsError";
  readonly problems: readonly Problem[];
  readonly diagnostics: readonly Diagnostic[];
  /** False if the problems were reported without looking up lines and columns; a caller that knows the files can still do that. */
  readonly isLocated: boolean;

  constructor(problems: readonly Problem[], locate?: Locate) {
    super(
      "E_PROBLEMS",
      problems.length === 1 && problems[0] !== undefined ? problems[0].message : `There are ${problems.length} problems.`,
    );
    this.problems = problems;
    this.isLocated = locate !== undefined;
    this.diagnostics = problems.map((problem) => toDiagnostic(problem, locate ?? (({ file }) => ({ file }))));
  }
}

/** Throws ProblemsError if there is an error among the problems. */
export function refuseErrors(problems: readonly Problem[], locate?: Locate): void {
  const errors = problems.filter(isError);
  if (errors.length > 0) throw new ProblemsError(errors, locate);
}

/**
 * A failed call. `sent` says whether the service may have acted on it. "never": refused by the network
 * or by the client. "maybe": timeout, reset, 5xx, or an unreadable response. "answered": the service
 * refused it (4xx).
 */
export class ServiceError extends DimsyncError {
  override readonly name = "ServiceError";
  readonly method: string;
  readonly path: string;
  readonly sent: "never" | "maybe" | "answered";
  readonly status: number | undefined;
  /** The code in the body of a refusal, as the service sent it: "IntegrationInCreation". */
  readonly serviceCode: string | undefined;
  /** Whether a 404 does not mention the object: the service may not know the path. */
  readonly isUnknownPath: boolean;
  /** The message without the call: the same for all calls that fail for the same reason. */
  readonly reason: string;

  constructor(
    code: Code,
    message: string,
    call: {
      readonly method: string;
      readonly path: string;
      readonly sent: "never" | "maybe" | "answered";
      readonly status?: number;
      readonly serviceCode?: string;
      readonly isUnknownPath?: boolean;
      readonly reason?: string;
      readonly cause?: unknown;
    },
  ) {
    super(code, message, call.cause === undefined ? {} : { cause: call.cause });
    this.method = call.method;
    this.path = call.path;
    this.sent = call.sent;
    this.status = call.status;
    this.serviceCode = call.serviceCode;
    this.isUnknownPath = call.isUnknownPath === true;
    this.reason = call.reason ?? message;
  }
}

/** Whether the service refused a request because it still creates the integration. */
export const isInCreation = ({ serviceCode }: ServiceError): boolean => serviceCode === "IntegrationInCreation";

/** Whether the service refused a request because it could not create the integration. */
export const isFailedCreation = ({ serviceCode }: ServiceError): boolean => serviceCode === "IntegrationFailed";

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's error code, for example "EACCES", or "unknown". */
export const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";

/** What `read` returns; undefined if the service fails it. */
export const readIfPossible = <T>(read: () => Promise<T>): Promise<T | undefined> => readOr(read, () => undefined);

/** As `readOr`, for what was received already. */
export function readNow<T, F>(read: () => T, otherwise: (failure: ServiceError) => F): T | F {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return otherwise(error);
  }
}

/** What `read` returns; if the service fails it, what `otherwise` makes of the failure. Other errors are thrown. */
export async function readOr<T, F>(read: () => Promise<T>, otherwise: (failure: ServiceError) => F): Promise<T | F> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return otherwise(error);
  }
}
