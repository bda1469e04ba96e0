import { main } from "../../src/cli.ts";
import { capturedIo } from "./captured-io.ts";

/** The output and exit code of a command line. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command line in this process, in `cwd`, with only the environment `env`, and without a
 * terminal.
 */
export async function runCommand(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const { io, printed } = capturedIo({ columns: Number(env["COLUMNS"] ?? 100), env, cwd });
  return { code: await main(argv, io), ...printed() };
}
