// Annotations and outputs of GitHub are at the right line, bounded, and no name becomes a command.
import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/core/base/model/findings.ts";
import { stepsOf } from "../../../../src/core/base/model/plan.ts";
import { type Code, titles } from "../../../../src/core/base/model/titles.ts";
import { workflowCommand } from "../../../../src/core/base/text/workflow-commands.ts";
import type { Document } from "../../../../src/core/render/document.ts";
import { renderers } from "../../../../src/core/render/index.ts";
import { githubPieces, renderGithub, summaryLimitBytes } from "../../../../src/core/render/machine/github.ts";
import fc from "../../../support/fast-check.ts";
import { guard } from "../../../support/findings.ts";
import { runs } from "../../../support/sample.ts";
import { endedFrom, withReady } from "../../../support/steps.ts";
import { invalid } from "../diagnostics.ts";
import { documents } from "../documents.ts";
import { driftReport, fullPlan, planOfColumns } from "../full-plan.ts";
import { withName } from "../hostile.ts";
import { faults } from "../markdown/structure.ts";
import { change, item, plan } from "../plans.ts";
import { doneResult, fullResult } from "../results.ts";

const plain = { color: false, verbose: false };

interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/**
 * Reads a log like the runner of GitHub Actions: `::name key=value,…::message` at the start of a
 * line, after blanks, and the old `##[name]` anywhere.
 */
function commandsIn(log: string): readonly Command[] {
  return log.split("\n").flatMap((line): readonly Command[] => {
    const found = /^\s*::([a-z-]+)(?: ([^:]*))?::(.*)$/u.exec(line);
    if (found === null)
      return [...line.matchAll(/##\[([^\]]+)\]/gu)].map(([, name]) => ({ name: `##${name}`, properties: {}, message: "" }));
    const [, name = "", list = "", message = ""] = found;
    const pairs = list.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [] : [[pair.slice(0, at), unescaped(pair.slice(at + 1))] as const];
    });
    return [{ name, properties: Object.fromEntries(pairs), message: unescaped(message) }];
  });
}

const unescaped = (text: string): string =>
  text.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%25", "%");

const annotationNames = new Set(["error", "warning", "notice"]);
const annotationsOf = (document: Document, filePrefix = "") =>
  commandsIn(renderers.github(document, { ...plain, filePrefix })).filter(({ name }) => annotationNames.has(name));

describe.each(Object.entries(documents))("%s", (_, document) => {
  test("has one group and annotations for the runner, whatever its names contain", () => {
    const hostile = fc.constantFrom(
      "::error::x",
      "\n::add-mask::a",
      "##[error]x",
      "::stop-commands::t",
      "a%0A::set-output name=x::y",
      ":: ::",
      "\r::debug::",
    );
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: fc.constantFrom(..."::#[]%0A \n\ra,="), maxLength: 12 })), (name) => {
        const names = commandsIn(renderers.github(withName(document, name), plain)).map((command) => command.name);
        expect(names.filter((one) => !annotationNames.has(one))).toEqual(["group", "endgroup"]);
      }),
      { numRuns: runs(8, 400) },
    );
  });

  test("outputs contain no line breaks, so that each is one value", () => {
    for (const value of Object.values(githubPieces([withName(document, "\n\r\u2028x")]).outputs))
      expect(value).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });

  test("has a well-formed summary", () => {
    expect(faults(githubPieces([document]).summary)).toEqual([]);
  });
});

test("the reader of the log finds hidden commands", () => {
  expect(commandsIn("  ::error file=a%2Cb,line=1::x%0Ay\nz ##[debug]").map(({ name }) => name)).toEqual(["error", "##debug"]);
  expect(commandsIn("::error file=a%2Cb,line=1::x%0Ay")[0]).toEqual({
    name: "error",
    properties: { file: "a,b", line: "1" },
    message: "x\ny",
  });
});

const escapes: readonly (readonly [string, string, string])[] = [
  ["percent signs first, so that nothing is escaped twice", "100%0A", "::error title=100%250A::100%250A"],
  ["line breaks", "a\r\nb", "::error title=a%0D%0Ab::a%0D%0Ab"],
  ["colon and comma in properties only", "a:b,c", "::error title=a%3Ab%2Cc::a:b,c"],
];
test.each(escapes)("escapes %s", (_, text, expected) => {
  expect(workflowCommand("error", [["title", text]], text)).toBe(expected);
});

test("annotations are at the manifest's line, in the repository", () => {
  expect(annotationsOf(invalid, "deploy/")[0]).toMatchObject({
    name: "error",
    properties: { file: "deploy/manifests/orders.yaml", line: "14", col: "22", title: "E_UNKNOWN_REFERENCE: Unknown reference" },
  });
});

test("an exposing change is a warning at its rule", () => {
  const exposing = annotationsOf(planOfColumns(3)).filter(({ properties }) => properties["title"]?.startsWith("exposes"));
  expect(exposing).toMatchObject([{ name: "warning", properties: { file: "manifests/shops.yaml", line: "14" } }]);
});

const codes = Object.keys(titles) as readonly Code[];

test("no more than ten annotations of one severity, those at lines first, over all targets together", () => {
  const diagnostics = (["error", "warning", "info"] as const).flatMap((severity) =>
    Array.from({ length: 30 }, (_, index) => ({
      rule: codes[index] ?? "E_USAGE",
      severity,
      summary: "x",
      message: "y",
      ...(index < 15 ? {} : { file: "a.yaml", line: severity.length * 100 + index }),
    })),
  );
  const log = renderGithub([plan({ findings: diagnostics, target: "a" }), plan({ findings: diagnostics, target: "b" })], plain);
  const shown = commandsIn(log).filter(({ name }) => annotationNames.has(name));
  for (const severity of annotationNames) {
    const some = shown.filter(({ name }) => name === severity);
    expect(some).toHaveLength(10);
    expect(some.every(({ properties }) => properties["file"] === "a.yaml")).toBe(true);
  }
});

const finding = (file: string | undefined, line: number, more: Partial<PolicyFinding> = {}): PolicyFinding => ({
  ...{
    rule: "Policy/pii",
    severity: "error",
    state: "new",
    address: "Schemas/orders",
    path: "/schemas/s/tables/t/columns/c",
    message: "Hash it.",
  },
  ...(file === undefined ? {} : { file, line }),
  ...more,
});
const placesOf = (log: string) =>
  commandsIn(log)
    .filter(({ name }) => annotationNames.has(name))
    .map(({ name, properties: { file = "", line = "" }, message }) => `${name} ${file}:${line} ${message.split("\n").length}`);

test("one annotation for each line and code, new findings before existing ones, and existing ones as notices", () => {
  const existing = Array.from({ length: 12 }, (_, index) => finding("a.yaml", 3, { state: "existing", path: `/schemas/s${index}` }));
  const info = Array.from({ length: 10 }, (_, index) => finding("c.yaml", index + 1, { severity: "info", state: "new" }));
  const findings = [...existing, finding("b.yaml", 4), finding("b.yaml", 4, { rule: "Policy/other" }), ...info.slice(0, 9)];
  expect(placesOf(renderers.github(plan({ findings }), plain))).toEqual([
    "error b.yaml:4 1",
    "error b.yaml:4 1",
    ...info.slice(0, 9).map(({ line }) => `notice c.yaml:${line} 1`),
    // The message of four, and how many more there are.
    "notice a.yaml:3 5",
  ]);
  expect(placesOf(renderers.github(plan({ findings: [...existing, ...info] }), plain)), "no room for existing ones").toHaveLength(10);
});

test("what two targets have in common is annotated once, also without a line", () => {
  const found = { rule: "E_CONFLICTING_CONFIGS", severity: "error", summary: "Conflict", message: "Equal priority." } as const;
  const log = renderGithub(
    ["dev", "prod"].map((target) => plan({ target, findings: [found] })),
    plain,
  );
  expect(commandsIn(log).filter(({ name }) => annotationNames.has(name))).toHaveLength(1);
});

test("no annotation at a line that the pull request does not touch, unless a guard refuses because of it", () => {
  const touches = (file: string, line: number | undefined) => file === "a.yaml" && line === 1;
  const [warning, error] = (["warning", "error"] as const).map((severity) => ({
    ...{ rule: severity === "error" ? ("E_USAGE" as const) : ("W_NO_MATCH" as const), severity, summary: "x", message: severity },
  }));
  const at = (line: number) => [warning, error].flatMap((one) => (one === undefined ? [] : [{ ...one, file: "a.yaml", line }]));
  const findings = [finding("p.yaml", 7), finding("p.yaml", 8, { state: "existing" }), finding("p.yaml", 9, { severity: "warning" })];
  const planned = plan({ findings: [...at(1), ...at(2), guard("policy", { message: "1 new finding." }), ...findings] });
  const log = renderers.github(planned, { ...plain, touches });
  expect(placesOf(log)).toEqual(["error a.yaml:1 1", "error p.yaml:7 1", "error : 1", "error : 3", "warning a.yaml:1 1"]);
  expect(log).toContain("::a.yaml:2: error\n");
});

const many = <T>(draw: (index: number) => T): T[] => Array.from({ length: 3_000 }, (_, index) => draw(index));
const large: Readonly<Record<string, Document>> = {
  "3 000 changes": plan({ items: [item({ changes: many((index) => change({ path: `/schemas/s/tables/t/columns/c${index}/hashed` })) })] }),
  "3 000 objects with names of three bytes a character": plan({
    items: many((index) => item({ id: `i${index}`, address: `Schemas/${"接".repeat(120)}`, changes: [change()] })),
  }),
  "3 000 outcomes": {
    ...fullResult,
    steps: endedFrom(many((index) => ({ address: `Tag/t${index}`, outcome: "failed", message: "Refused. ".repeat(30) }))),
  },
};

test.each(Object.entries(large))("the summary of %s fits, also in the remaining space and for two targets", (_, document) => {
  for (const [targets, room] of [
    [[document], summaryLimitBytes],
    [[document, document], summaryLimitBytes],
    [[document], 20_000],
  ] as const) {
    const { summary } = githubPieces(targets, { room });
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(room);
    expect(summary).not.toBe("");
    expect(faults(summary)).toEqual([]);
  }
});

test("no summary without space for one", () => {
  expect(githubPieces([fullPlan], { room: 50 }).summary).toBe("");
});

const outputs: readonly (readonly [string, Document, Readonly<Record<string, string>>])[] = [
  ["an empty plan", plan(), { has_changes: "false", exit_code: "0" }],
  ["a plan with only a bind", plan({ items: [item({ verb: "bind" })] }), { has_changes: "false" }],
  ["a plan that waits", plan({ steps: stepsOf(fullPlan, "waits") }), { has_changes: "true" }],
  ["a plan that a policy refuses", fullPlan, { has_changes: "true", exit_code: "3" }],
  ["drift", driftReport, { has_changes: "true", exit_code: "2" }],
  ["drift that only a user can fix", withReady(driftReport, []), { has_changes: "true" }],
  ["a result", doneResult, { has_changes: "true", exit_code: "0", summary_line: "Apply on prod: 1 done, 1 recovered" }],
  ["a validation", invalid, { has_changes: "false", exit_code: "1", summary_line: "2 errors, 1 warning in 2 files." }],
];
test.each(outputs)("outputs of %s", (_, document, expected) => {
  expect(githubPieces([document], { planFile: "/tmp/plan.json" }).outputs).toMatchObject({ plan_file: "/tmp/plan.json", ...expected });
});

test("the exit code of several targets is the most serious one", () => {
  expect(githubPieces([driftReport, fullPlan]).outputs.exit_code).toBe("3");
});
