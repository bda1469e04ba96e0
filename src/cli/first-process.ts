import { spawn } from "node:child_process";
import { constants } from "node:os";
import { standardStream } from "./standard-stream.ts";

/** How long the program may take to hear a stop signal. Node.js hears signals only between two pieces of synchronous work. */
const longestMs = 1_000;

/**
 * Runs the program in a child process, and passes stop signals on to it: the system never ends process 1 of a container by a
 * signal that it does not catch. A program that does not hear its first signal, or gets a second one, is killed; the next run
 * settles what was in flight. Exits as the program does, or with 128 + the number of the signal.
 */
export function runAsChild(argv: readonly string[]): void {
  let stoppedBy: NodeJS.Signals | undefined;
  let late: NodeJS.Timeout | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppedBy !== undefined) return void child.kill("SIGKILL");
    stoppedBy = signal;
    late = setTimeout(() => child.kill("SIGKILL"), longestMs);
    // A terminal sends Ctrl-C, and its end, to both processes.
    if (signal === "SIGTERM" || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  const [, program = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...argv], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  child.once("message", () => clearTimeout(late));
  child.once("error", ({ message }) => {
    standardStream(2).write(`dimsync: could not be started as a child of process 1: ${message}\n`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => {
    if (code === null && stoppedBy !== undefined && signal === "SIGKILL")
      standardStream(2).write(`\ndimsync: stopped at once by ${stoppedBy}, in the middle of work.\n`);
    process.exit(code ?? 128 + constants.signals[stoppedBy ?? signal ?? "SIGKILL"]);
  });
}
