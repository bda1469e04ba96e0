import type { Io } from "../../src/cli/io.ts";
import { clockWithoutWaiting } from "./clock.ts";

/** An io without a terminal and without environment variables, and what was printed so far. */
export function capturedIo(parts: Partial<Io> = {}): {
  readonly io: Io;
  readonly printed: () => { readonly stdout: string; readonly stderr: string };
} {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    stdoutIsTty: false,
    stderrIsTty: false,
    stdinIsTty: false,
    columns: 100,
    env: {},
    cwd: "/",
    clock: clockWithoutWaiting(),
    ask: () => Promise.reject(new Error("There is no terminal.")),
    interrupted: new AbortController().signal,
    ...parts,
  };
  return { io, printed: () => ({ stdout: out.join(""), stderr: err.join("") }) };
}
