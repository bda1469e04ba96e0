import { main } from "../../src/cli.ts";

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
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(argv, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    stdoutIsTty: false,
    stderrIsTty: false,
    stdinIsTty: false,
    columns: Number(env["COLUMNS"] ?? 100),
    env,
    cwd,
    ask: () => Promise.reject(new Error("There is no terminal.")),
    interrupted: new AbortController().signal,
  });
  return { code, stdout: out.join(""), stderr: err.join("") };
}
