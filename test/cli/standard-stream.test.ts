// An apply is not ended by a stream that cannot be written.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { builtCli, dimsyncHere, ended, quickstart, quickstartSecrets } from "./built-cli.ts";

/** Opens something that no write succeeds on: a full disk, and a descriptor that is only for reading. */
const broken = { "a full disk": () => openSync("/dev/full", "w"), "no writer": () => openSync("/dev/null", "r") };

/** Runs the built command line with stdout or stderr broken; the other one is collected. */
async function runBroken(args: readonly string[], stream: "stdout" | "stderr", cause: keyof typeof broken) {
  const cwd = quickstart();
  const fd = broken[cause]();
  const child = spawn(process.execPath, [builtCli, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...quickstartSecrets },
    stdio: ["ignore", stream === "stdout" ? fd : "pipe", stream === "stderr" ? fd : "pipe"],
  });
  closeSync(fd);
  const end = await ended(child);
  // A run that takes longer than ten seconds reports its progress.
  const errors = end.stderr.split("\n").filter((line) => line !== "" && !/ \(\d+ s\) · /u.test(line));
  return { ...end, errors, cwd };
}

const hasChanges = async (cwd: string): Promise<boolean> => (await dimsyncHere(["plan", "--detailed-exitcode"], { cwd })).code !== 0;

describe("what cannot be written never ends an apply", () => {
  test.each(["a full disk", "no writer"] as const)("stderr, on %s: the result and the exit code are those of the apply", async (cause) => {
    const { code, stdout, cwd } = await runBroken(["apply", "--yes", "--debug"], "stderr", cause);
    expect({ code, last: stdout.trim().split("\n").at(-1), isOpen: await hasChanges(cwd) }).toEqual({
      code: 0,
      last: expect.stringMatching(/^Sent: /u),
      isOpen: false,
    });
  });

  test("stdout: one sentence, and exit 1 instead of 0", async () => {
    const { code, errors, cwd } = await runBroken(["apply", "--yes"], "stdout", "a full disk");
    expect({ code, errors, isOpen: await hasChanges(cwd) }).toEqual({
      code: 1,
      errors: [expect.stringMatching(/^dimsync: E_OUTPUT: stdout could not be written: ENOSPC: no space left on device\. The output/u)],
      isOpen: false,
    });
  });
});

test.each([
  [["--version"], 1],
  [["plan", "--detailed-exitcode"], 2],
])("%j keeps an exit code that is not 0 if stdout is on a full disk", async (args, expected) => {
  const { code, errors } = await runBroken(args, "stdout", "a full disk");
  expect({ code, lines: errors.length }).toEqual({ code: expected, lines: 1 });
});
