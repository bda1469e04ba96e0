import { isatty } from "node:tty";
import type { Environment } from "../../model/settings/env.ts";

/** The terminal and the environment of a command. Tests pass their own. */
export interface Io {
  /** For the document of the command. */
  readonly stdout: (text: string) => void;
  /** Resolves when stdout can take more, or is closed. Without waiting, a long output would be kept in memory. */
  readonly stdoutDrained?: () => Promise<void>;
  /** For everything else. */
  readonly stderr: (text: string) => void;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly stdinIsTty: boolean;
  /** Columns of the terminal; 100 without one. */
  readonly columns: number;
  readonly env: Environment;
  readonly cwd: string;
  /** Asks on stderr and returns the line that was typed, or "" at the end of input. Rejects if the run is interrupted. */
  readonly ask: (question: string) => Promise<string>;
  /** Aborted by SIGINT or SIGTERM: start nothing new, finish writes in flight. */
  readonly interrupted: AbortSignal;
}

/** The io of this process. A second signal ends it at once. */
export function processIo(): Io {
  const interruption = new AbortController();
  const interrupt = (): void => {
    if (interruption.signal.aborted) process.exit(130);
    interruption.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // A reader that closes the pipe (`| head`) is not an error.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  return {
    stdout: (text) => void process.stdout.write(text),
    stdoutDrained: () => drained(process.stdout),
    stderr: (text) => void process.stderr.write(text),
    stdoutIsTty: process.stdout.isTTY === true,
    stderrIsTty: process.stderr.isTTY === true,
    // Using process.stdin would initialize it, which takes milliseconds.
    stdinIsTty: isatty(0),
    columns: process.stdout.columns ?? process.stderr.columns ?? 100,
    env: process.env,
    cwd: process.cwd(),
    async ask(question) {
      // Loading it takes milliseconds, and most runs ask nothing.
      const { createInterface } = process.getBuiltinModule("node:readline/promises");
      const readline = createInterface({ input: process.stdin, output: process.stderr });
      // Readline handles Ctrl-C itself, and never answers a question after the end of input.
      readline.on("SIGINT", interrupt);
      const ended = new Promise<string>((resolve) => readline.once("close", () => resolve("")));
      try {
        return await Promise.race([readline.question(question, { signal: interruption.signal }), ended]);
      } finally {
        readline.close();
      }
    },
    interrupted: interruption.signal,
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      for (const event of ["drain", "close", "error"]) stream.off(event, end);
      resolve();
    };
    for (const event of ["drain", "close", "error"]) stream.on(event, end);
  });
}
