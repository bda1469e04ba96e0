import type { ExitCode } from "../model/exit.ts";

/** The values of `-o` for an apply of several targets. */
export interface JobOutputs {
  /** Written for each target in turn: they can follow one another in a log. */
  readonly perTarget: readonly string[];
  /** One document for all targets, written at the end. */
  readonly atEnd: readonly string[];
  /** The files that get the events of all targets, as paths. */
  readonly eventFiles: readonly string[];
  /** Whether stdout belongs to a document of `atEnd`. */
  readonly isStdoutTaken: boolean;
}

const perTargetFormats = new Set(["human", "github", "ndjson"]);

/**
 * Splits the values of `-o` by when they are written. A file in the checkout would make the work
 * tree of the next target's plan unclean, so files are written at the end.
 */
export function splitOutputs(output: readonly string[]): JobOutputs {
  const perTarget = output.filter((text) => perTargetFormats.has(text));
  const events = output.filter((text) => text.startsWith("ndjson="));
  const atEnd = output.filter((text) => !perTarget.includes(text) && !events.includes(text));
  return {
    perTarget,
    atEnd,
    eventFiles: events.map((text) => text.slice("ndjson=".length)),
    isStdoutTaken: perTarget.length === 0 && atEnd.some((text) => !text.includes("=")),
  };
}

/** The steps of one target. */
export interface TargetSteps {
  readonly apply: () => Promise<ExitCode>;
  /** Runs after `apply` whatever its exit code, because some writes may have succeeded. */
  readonly keepBindings: () => Promise<ExitCode>;
}

/**
 * Applies target by target, and stops after an interruption. Returns the exit codes of all steps.
 */
export async function applyInTurn(targets: readonly TargetSteps[], interrupted: AbortSignal): Promise<readonly ExitCode[]> {
  const exits: ExitCode[] = [];
  for (const { apply, keepBindings } of targets) {
    exits.push(await apply());
    exits.push(await keepBindings());
    if (interrupted.aborted) break;
  }
  return exits;
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
