import type { Clock } from "../core/base/model/runtime/clock.ts";
import type { Environment } from "../core/base/model/settings/env.ts";
import { masked, remember } from "../core/base/model/settings/secret.ts";
import { visible } from "../core/base/text/control-characters.ts";
import { guarded, type Write } from "../core/base/text/workflow-commands.ts";
import { standardOutput, standardStream } from "./standard-stream.ts";

/** The terminal and the environment of a command. Tests pass their own. */
export interface Io {
  /** For the document of the command. */
  readonly stdout: Write;
  /** Resolves when stdout can take more, or is closed. Without waiting, a long output would be kept in memory. */
  readonly stdoutDrained?: () => Promise<void>;
  /** For everything else. */
  readonly stderr: Write;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly stdinIsTty: boolean;
  /** Columns of the terminal; 100 without one. */
  readonly columns: number;
  readonly env: Environment;
  readonly cwd: string;
  /** What runs wait with, between attempts and for the service. Default: the time of the system. */
  readonly clock?: Clock;
  /** Asks on stderr and returns the line that was typed, or "" at the end of input. Rejects if the run is interrupted. */
  readonly ask: (question: string) => Promise<string>;
  /** Aborted by a signal that is caught: start nothing new, finish writes in flight. */
  readonly interrupted: AbortSignal;
  /**
   * Until the returned function is called, the first SIGINT, SIGTERM or SIGHUP (the terminal is closed) aborts `interrupted`. Otherwise, and from the second one on, the system ends the
   * process at once, even in the middle of synchronous work. Called before anything that an end would leave behind: a write, a temporary file, a server.
   */
  readonly catchSignals?: () => Release;
}

type Release = () => void;

/** Catches signals while the work runs (`Io.catchSignals`). */
export async function withSignalsCaught<T>(io: Io, work: () => Promise<T>): Promise<T> {
  const release = io.catchSignals?.();
  try {
    return await work();
  } finally {
    release?.();
  }
}

/** Secrets that dimsync uses itself, without a `$secret`. */
const secretVariables = ["DIMSYNC_DIGEST_KEY", "DIMSYNC_DATABASE_URL", "GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN"];

/** The io of this process. */
export function processIo(): Io {
  const { interrupted, interrupt, catchSignals } = processSignals();
  const stderr = standardStream(2);
  const stdout = standardOutput(stderr);
  const [out, err] = [stdout, stderr].map(
    ({ write }): Write =>
      (text) =>
        write(masked(text)),
  ) as [Write, Write];
  for (const name of secretVariables) remember(process.env[name]);
  const isStep = (process.env["GITHUB_ACTIONS"] ?? "") !== "";
  return {
    stdout: isStep ? guarded(out) : out,
    stdoutDrained: stdout.drained,
    stderr: isStep ? guarded(err) : err,
    stdoutIsTty: stdout.isTty(),
    stderrIsTty: stderr.isTty(),
    // Only prompts ask, and it takes milliseconds.
    get stdinIsTty() {
      return process.getBuiltinModule("node:tty").isatty(0);
    },
    columns: stdout.columns() ?? stderr.columns() ?? 100,
    env: process.env,
    cwd: process.cwd(),
    async ask(question) {
      const release = catchSignals();
      // Loading it takes milliseconds, and most runs ask nothing.
      const { createInterface } = process.getBuiltinModule("node:readline/promises");
      const readline = createInterface({ input: process.stdin, output: process.stderr });
      // Readline handles Ctrl-C itself, and never answers a question after the end of input.
      readline.on("SIGINT", () => interrupt());
      const ended = new Promise<string>((resolve) => readline.once("close", () => resolve("")));
      try {
        return await Promise.race([readline.question(question, { signal: interrupted }), ended]);
      } finally {
        readline.close();
        release();
      }
    },
    interrupted,
    catchSignals,
  };
}

function processSignals() {
  const interruption = new AbortController();
  let catching = 0;
  const interrupt = (signal?: NodeJS.Signals): void => {
    // As a shell reports it.
    if (signal === "SIGHUP") process.once("exit", (code) => (process.exitCode = code === 130 ? 129 : code));
    if (interruption.signal.aborted) process.exit(130);
    // Node.js calls this function only after synchronous work; the system does not wait.
    for (const each of signals) process.off(each, interrupt);
    // Process 1 of a container (first-process.ts) kills a program that does not hear a signal.
    if (process.connected) process.send?.("stopping", () => {});
    interruption.abort();
  };
  const catchSignals = (): Release => {
    if (catching === 0 && !interruption.signal.aborted) for (const signal of signals) process.on(signal, interrupt);
    catching += 1;
    return () => {
      catching -= 1;
      if (catching === 0) for (const signal of signals) process.off(signal, interrupt);
    };
  };
  return { interrupted: interruption.signal, interrupt, catchSignals };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Prints a message to stderr on one line, whatever names it contains, and a command to run on the next. */
export function say({ stderr }: Pick<Io, "stderr">, message: string, command?: string): void {
  stderr(`dimsync: ${visible(message)}\n${command === undefined ? "" : `  ${visible(command)}\n`}`);
}
