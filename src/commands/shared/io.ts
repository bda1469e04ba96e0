import { isatty } from "node:tty";

/** The world outside a command: what it prints to, asks, and is told by the environment. Tests hand in their own. */
export interface Io {
  /** Takes the one document of the command. */
  readonly stdout: (text: string) => void;
  /** Takes everything else. */
  readonly stderr: (text: string) => void;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly stdinIsTty: boolean;
  /** Columns of the terminal; 100 where there is none. */
  readonly columns: number;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Asks on stderr and returns the line that was typed; "" where the input ended. Rejects where the run is interrupted. */
  readonly ask: (question: string) => Promise<string>;
  /** Aborted by SIGINT or SIGTERM: start nothing new, finish what is under way. */
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
  // A reader that has gone away (`| head`) is no failure of ours.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    stdoutIsTty: process.stdout.isTTY === true,
    stderrIsTty: process.stderr.isTTY === true,
    // Asking process.stdin would set it up, which takes milliseconds.
    stdinIsTty: isatty(0),
    columns: process.stdout.columns ?? process.stderr.columns ?? 100,
    env: process.env,
    cwd: process.cwd(),
    async ask(question) {
      // Questions are rare, and this module takes milliseconds.
      const { createInterface } = await import("node:readline/promises");
      const readline = createInterface({ input: process.stdin, output: process.stderr });
      // Readline keeps the terminal's Ctrl-C to itself, and never answers a question whose input has ended.
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
