import type { Exit } from "../model/exit.ts";
import type { RenderOptions } from "../render/document.ts";
import { junitText, type TestCase, type TestSuite } from "../render/machine/junit-text.ts";
import { testFailures } from "../render/terminal/tests.ts";
import type { TestOutcome } from "./evaluate.ts";

/** What `dimsync test -o json` prints. */
export interface TestReport {
  readonly kind: "TestReport";
  readonly target: string;
  readonly tests: readonly TestOutcome[];
  readonly exit: Exit;
}

export function testReport(target: string, tests: readonly TestOutcome[]): TestReport {
  const exit: Exit = tests.every(({ passed }) => passed) ? { code: 0, reasons: [] } : { code: 1, reasons: ["failed-tests"] };
  return { kind: "TestReport", target, tests, exit };
}

/** The report as JUnit XML. */
export function testJunit({ target, tests, exit }: TestReport, { filePrefix = "", caseFiles = false }: RenderOptions): string {
  const cases = tests.map((test): TestCase => {
    const { name, file, line, passed, checked } = test;
    const place = { name, group: file, file, line };
    if (passed) return { ...place, output: `${checked} checked` };
    return { ...place, verdict: { element: "failure", type: "assertion", lines: testFailures(test) } };
  });
  const suite: TestSuite = { name: `dimsync test ${target}`, properties: [["exit_code", String(exit.code)]], cases };
  return junitText(cases.length === 0 ? [] : [suite], { prefix: filePrefix, isLinked: caseFiles });
}
