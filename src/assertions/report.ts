import type { Exit } from "../model/exit.ts";
import type { RenderOptions } from "../render/document.ts";
import { junitText, type TestCase, type TestSuite } from "../render/machine/junit-text.ts";
import { visible } from "../text/control-characters.ts";
import { counted } from "../text/counts.ts";
import type { FailedValue, TestOutcome } from "./evaluate.ts";

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

/** The report for the terminal. */
export function testText({ tests }: TestReport): string {
  const lines = tests.flatMap((test) => [
    `${test.passed ? "ok    " : "failed"}  ${test.name} (${test.checked} checked)${test.passed ? "" : `  ${test.file}:${test.line}`}`,
    ...failureLines(test).map((line) => `          ${line}`),
  ]);
  const failed = tests.filter(({ passed }) => !passed).length;
  return `${[...lines, "", `${counted(tests.length, "test")}, ${failed} failed.`].map(visible).join("\n")}\n`;
}

/** The report as JUnit XML. */
export function testJunit({ target, tests, exit }: TestReport, { filePrefix = "", caseFiles = false }: RenderOptions): string {
  const cases = tests.map((test): TestCase => {
    const { name, file, line, passed, checked } = test;
    const place = { name, group: file, file, line };
    if (passed) return { ...place, output: `${checked} checked` };
    return { ...place, verdict: { element: "failure", type: "assertion", message: failureLines(test).join("\n") } };
  });
  const suite: TestSuite = { name: `dimsync test ${target}`, properties: [["exit_code", String(exit.code)]], cases };
  return junitText(cases.length === 0 ? [] : [suite], { prefix: filePrefix, isLinked: caseFiles });
}

function failureLines({ message, failures, failed }: TestOutcome): readonly string[] {
  return [
    ...(message === undefined ? [] : [message]),
    ...failures.map(failureText),
    ...(failed > failures.length ? [`and ${failed - failures.length} more`] : []),
  ];
}

function failureText({ integration, node, key, expected, actual }: FailedValue): string {
  const value = actual === undefined ? "unknown" : JSON.stringify(actual);
  return `${node === "" ? integration : `${integration} ${node}`}: ${key} is ${value}, not ${JSON.stringify(expected)}`;
}
