import { changeCount } from "../../model/changes.ts";
import type { Item } from "../../model/plan.ts";
import type { ItemResult } from "../../model/result.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import type { Document, RenderOptions } from "../document.ts";
import { type Finding, findingsOf } from "../report/findings.ts";
import { hasChanges, summaryLine } from "../report/totals.ts";
import { wordsOf } from "../report/words.ts";
import { junitText, type TestCase, type TestSuite } from "./junit-text.ts";

/**
 * JUnit XML for GitLab and Jenkins. The xUnit plugin of Jenkins refuses attributes that it does not
 * know, such as `file` and `line` of a case, which GitLab turns into links. So they are only written
 * with `caseFiles`; the message always has them.
 */
export function renderJunit(document: Document, options: RenderOptions): string {
  return renderJunitAll([document], options);
}

/**
 * One test suite per target. Each finding is a case: failed if it is an error or drift, otherwise
 * skipped. Each planned or done step is a passed case. If there are none, there is one passed case,
 * because JUnit readers refuse an empty suite.
 */
export function renderJunitAll(documents: readonly Document[], { filePrefix = "", caseFiles = false }: RenderOptions): string {
  return junitText(documents.map(suiteOf), { prefix: filePrefix, isLinked: caseFiles });
}

function casesOf(document: Document): readonly TestCase[] {
  const isReport = document.kind === "DriftReport";
  const findings = findingsOf(document).map((entry) => findingCase(entry, isReport));
  const steps =
    document.kind === "Plan" ? document.items.map(stepCase) : document.kind === "Result" ? document.items.flatMap(doneCase) : [];
  const cases = [...findings, ...steps];
  return cases.length > 0
    ? cases
    : [{ name: document.kind === "Validation" ? "the manifests are valid" : "the account matches the manifests", group: document.kind }];
}

function findingCase({ rule, title, severity, message, more, address, file, line }: Finding, isReport: boolean): TestCase {
  const isFailure = severity === "error" || (isReport && (rule === "drift" || rule === "manual"));
  const lines = [message, ...more];
  return {
    name: message === "" ? title : `${rule}: ${message}`,
    group: address ?? file ?? rule,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(isFailure
      ? { result: { element: "failure" as const, type: rule, lines } }
      : { result: { element: "skipped" as const, type: rule, lines } }),
  };
}

const stepCase = (item: Item): TestCase => ({
  name: `${item.action} ${item.address}`,
  group: item.address,
  output: counted(changeCount(item), "change"),
});

function doneCase({ address, action, outcome, liveId }: ItemResult): readonly TestCase[] {
  if (outcome !== "done" && outcome !== "recovered") return [];
  return [{ name: `${action ?? "apply"} ${address}`, group: address, output: liveId === undefined ? outcome : `${outcome}, id ${liveId}` }];
}

function suiteOf(document: Document): TestSuite {
  return {
    name: joinParts([wordsOf(document.kind).command, document.kind === "Validation" ? "" : document.target], " "),
    ...(document.kind === "Validation" ? {} : { at: document.kind === "Result" ? document.startedAt : document.createdAt }),
    properties: [
      ["summary", summaryLine(document)],
      ["exit_code", String(document.exit.code)],
      ["has_changes", String(hasChanges(document))],
    ],
    cases: casesOf(document),
  };
}
