import type { Reporter, TestModule } from "vitest/node";
import { type ProgramName, programs, without } from "./programs.mjs";

/**
 * Prints at the end how many tests were skipped because a program is not installed, and how to install
 * it. With DIMSYNC_TESTS_WITHOUT=none, such a run fails.
 */
export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<ProgramName, number>();
    for (const module of modules)
      for (const test of module.children.allTests("skipped"))
        for (const name of test.meta().missing ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [name, count] of counts) console.log(skippedLine(name, count));
    if (counts.size === 0 || !without.includes("none")) return;
    console.error("DIMSYNC_TESTS_WITHOUT=none: no test may be skipped because a program is not installed.");
    process.exitCode = 1;
  }
}

function skippedLine(name: ProgramName, count: number): string {
  const tests = count === 1 ? "1 test was" : `${count} tests were`;
  if (without.includes(name)) return `${tests} skipped: ${name} is in DIMSYNC_TESTS_WITHOUT.`;
  const { title, package: debianPackage } = programs[name];
  return `${tests} skipped: ${title} is not installed. On Debian: apt-get install ${debianPackage}`;
}
