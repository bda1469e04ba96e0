import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { evaluateAssertions, type TestOutcome } from "../../assertions/evaluate.ts";
import { type Assertion, toAssertions } from "../../assertions/parse.ts";
import { cachedReads } from "../../engine/cached-reads.ts";
import { readAccount, readTags } from "../../engine/read-account.ts";
import { readAhead, readSchemas } from "../../engine/read-schemas.ts";
import { schemaConfig } from "../../kinds/schema-config/index.ts";
import { DimsyncError, ProblemsError } from "../../model/errors.ts";
import type { Exit, ExitCode } from "../../model/exit.ts";
import { systemClock } from "../../operations/account.ts";
import { openBindings } from "../../records/bindings.ts";
import type { RenderOptions } from "../../render/document.ts";
import { junitText, type TestCase, type TestSuite } from "../../render/machine/junit-text.ts";
import { visible } from "../../text/control-characters.ts";
import type { Context } from "../shared/context.ts";
import type { TestFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";
import { openReads } from "./snapshot.ts";

/** What `dimsync test -o json` prints. */
export interface TestReport {
  readonly kind: "TestReport";
  readonly target: string;
  readonly tests: readonly TestOutcome[];
  readonly exit: Exit;
}

const defaultFile = "dimsync.tests.yaml";

/** `dimsync test [FILE…]`: assertions over manifests and account, or manifests and snapshot. Sends GET only; exit 1 where one doesn't hold. */
export async function runTest(context: Context<TestFlags>, files: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json", "junit"]);
  const project = await loadOneProject(context);
  const { settings } = project;
  const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : [join(settings.folder, defaultFile)];
  const assertions = paths.flatMap((path) => readAssertions(path, relative(cwd, path)));
  const errors = project.problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors, project.locate);
  const progress = showProgress(context);
  const run = { env: io.env, signal: io.interrupted };
  const opened = await openReads(project, flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot), run);
  try {
    const reads = cachedReads(opened.reads);
    const bindings = await openBindings(settings.bindingsFile, settings.target);
    const { account: listed } = await readAccount(project, bindings.all(), { reads, today: systemClock.now().toISOString().slice(0, 10) });
    const isTagNeeded = assertions.some(({ integrations }) => integrations.tagged !== undefined);
    const world = { ...listed, tags: isTagNeeded ? await readTags(reads, listed) : listed.tags };
    const evaluation = evaluateAssertions(assertions, world);
    const configs = world.resources.filter(({ kind }) => kind === "SchemaConfig");
    const units = new Map(schemaConfig.units(configs, world).units.map((unit) => [unit.liveId, unit]));
    const total = world.integrations.length;
    let done = 0;
    for await (const outcome of readAhead(world.integrations, 4, (live) =>
      evaluation.needsSchemas(live) ? readSchemas(reads, live.id) : Promise.resolve(undefined),
    )) {
      if ("error" in outcome) throw outcome.error;
      evaluation.look(outcome.item, outcome.read, units.get(outcome.item.id));
      progress.onProgress?.({ type: "step", phase: "read", done: ++done, total, label: outcome.item.name });
    }
    progress.end();
    const tests = evaluation.outcomes();
    const exit: Exit = tests.every(({ passed }) => passed) ? { code: 0, reasons: [] } : { code: 1, reasons: ["failed-tests"] };
    const report: TestReport = { kind: "TestReport", target: settings.target, tests, exit };
    await deliverForms(context, {
      human: () => humanText(report),
      json: () => `${JSON.stringify(report, undefined, 2)}\n`,
      junit: (options) => junit(report, options),
    });
    return exit.code;
  } finally {
    progress.end();
    await opened.close();
  }
}

function readAssertions(path: string, shown: string): readonly Assertion[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new DimsyncError(
      "E_TESTS",
      `${shown} can't be read: ${error instanceof Error ? error.message : String(error)}. Name a file of tests, or write ${defaultFile} beside dimsync.yaml.`,
      {
        cause: error,
      },
    );
  }
  return toAssertions(text, shown);
}

/** What a failed test says, a line each. */
const findings = ({ message, failures, failed }: TestOutcome): readonly string[] => [
  ...(message === undefined ? [] : [message]),
  ...failures.map(
    ({ integration, node, key, expected, actual }) =>
      `${[integration, node].filter((part) => part !== "").join(" ")}: ${key} is ${actual === undefined ? "not shown" : JSON.stringify(actual)}, not ${JSON.stringify(expected)}`,
  ),
  ...(failed > failures.length ? [`and ${failed - failures.length} more`] : []),
];

function humanText({ tests }: TestReport): string {
  const lines = tests.flatMap((test) => [
    `${test.passed ? "ok    " : "failed"}  ${test.name} (${test.checked} checked)${test.passed ? "" : `  ${test.file}:${test.line}`}`,
    ...findings(test).map((line) => `          ${line}`),
  ]);
  const failedTests = tests.filter(({ passed }) => !passed).length;
  return `${[...lines, "", `${tests.length} ${tests.length === 1 ? "test" : "tests"}, ${failedTests} failed.`].map(visible).join("\n")}\n`;
}

function junit({ target, tests, exit }: TestReport, { filePrefix = "", caseFiles = false }: RenderOptions): string {
  const cases = tests.map((test): TestCase => {
    const { name, file, line, passed, checked } = test;
    const place = { name, group: file, file, line };
    if (passed) return { ...place, output: `${checked} checked` };
    return { ...place, verdict: { element: "failure", type: "assertion", message: findings(test).join("\n") } };
  });
  const suite: TestSuite = { name: `dimsync test ${target}`, properties: [["exit_code", String(exit.code)]], cases };
  return junitText(cases.length === 0 ? [] : [suite], { prefix: filePrefix, isLinked: caseFiles });
}
