import { expect } from "vitest";
import type { Ran } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { runs, sampleSeed } from "../support/sample.ts";

/**
 * Results that no input may cause: a bug in dimsync, a stack trace, a message with a value that it lacks, an exit code without a message.
 */
export function mistakesOf({ code, stdout, stderr }: Ran, allowed: readonly number[] = [0, 1, 2, 3, 4, 5]): readonly string[] {
  const wrong: string[] = [];
  if (!allowed.includes(code)) wrong.push(`exit ${code}`);
  if (stderr.includes("E_INTERNAL") || stdout.includes("E_INTERNAL")) wrong.push(`a bug in dimsync: ${stderr}${stdout}`);
  const trace = /^ {4}at .+:\d+:\d+\)?$|\b(?:Type|Range|Reference|Syntax)Error\b/mu;
  if (trace.test(stderr + stdout)) wrong.push(`a stack trace: ${stderr}${stdout}`);
  const unfinished = /\bundefined\b|\[object |\bNaN\b|one of[ ,.]*,/u.exec(stdout + stderr);
  if (unfinished !== null) wrong.push(`"${unfinished[0]}" in a message: ${stdout}${stderr}`);
  if (code !== 0 && stdout === "" && stderr === "") wrong.push(`exit ${code} without a message`);
  return wrong;
}

const longestMs = 300_000;

/**
 * Checks a property on `runs` random inputs, or forty times as many with DIMSYNC_TESTS=all, and prints
 * how many, with the seed of `sample.ts`. An input that takes a minute is a hang.
 */
export async function fuzz<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  usual: number,
  attempt: (input: T) => Promise<readonly string[]>,
): Promise<void> {
  const numRuns = runs(usual, 40 * usual);
  console.info(`fuzz, ${name}: ${numRuns} inputs, DIMSYNC_TESTS_SEED=${sampleSeed}`);
  await fc.assert(
    fc
      .asyncProperty(arbitrary, async (input) => {
        expect(await attempt(input)).toEqual([]);
      })
      .beforeEach(() => undefined),
    { numRuns, timeout: longestMs },
  );
}
