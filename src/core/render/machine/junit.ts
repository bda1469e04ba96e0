import { changeCount } from "../../model/changes.ts";
import type { Item, ItemResult } from "../../model/plan.ts";
import { placeText } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import type { Document, RenderOptions } from "../document.ts";
import { type Finding, findingsOf } from "../report/findings.ts";
import { isDone } from "../report/outcomes.ts";
import { hasChanges, summaryLine } from "../report/totals.ts";
import { wordsOf } from "../report/words.ts";

// GitLab reads reports of up to 30 MiB, so long messages are cut.
const mostCharacters = 4_000;

/**
 * JUnit XML for GitLab and Jenkins, with a test suite per target. Each finding is a case: failed if it is an error or drift,
 * otherwise skipped. Each planned or done step is a passed case. If there are none, there is one passed case, because JUnit
 * readers refuse an empty suite.
 *
 * The xUnit plugin of Jenkins refuses attributes that it does not know, such as `file` and `line` of a case, which GitLab turns
 * into links. So they are only written with `caseFiles`; the message always has them.
 */
export function renderJunit(documents: readonly Document[], options: RenderOptions): string {
  const suites = documents.map((document) => ({ document, cases: casesOf(document, options) }));
  const all = { name: "dimsync", ...counts(suites.flatMap(({ cases }) => cases)), time: 0 };
  const body = suites.map(({ document, cases }) => `  ${suiteXml(document, cases)}\n`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", all, `\n${body}`)}\n`;
}

interface TestCase {
  /** "failure": something is wrong; "skipped": it waits for something or someone. */
  readonly result: "passed" | "failure" | "skipped";
  readonly xml: string;
}

function suiteXml(document: Document, cases: readonly TestCase[]): string {
  const isValidation = document.kind === "Validation";
  const at = isValidation ? undefined : document.kind === "Result" ? document.startedAt : document.createdAt;
  const properties = [
    { name: "summary", value: summaryLine(document) },
    { name: "exit_code", value: document.exit.code },
    { name: "has_changes", value: String(hasChanges(document)) },
  ].map((property) => `      ${element("property", property)}\n`);
  const attributes = {
    name: joinParts([wordsOf(document.kind).command, isValidation ? "" : document.target], " "),
    timestamp: at?.slice(0, 19),
    ...counts(cases),
    skipped: withResult(cases, "skipped"),
    time: 0,
  };
  const inside = [element("properties", {}, `\n${properties.join("")}    `), ...cases.map(({ xml }) => xml)];
  return element("testsuite", attributes, `\n${inside.map((one) => `    ${one}\n`).join("")}  `);
}

const withResult = (cases: readonly TestCase[], wanted: TestCase["result"]): number =>
  cases.filter(({ result }) => result === wanted).length;

const counts = (cases: readonly TestCase[]) => ({ tests: cases.length, failures: withResult(cases, "failure"), errors: 0 });

function casesOf(document: Document, options: RenderOptions): readonly TestCase[] {
  const findings = findingsOf(document).map((finding) => findingCase(finding, document.kind === "DriftReport", options));
  const steps = document.kind === "Plan" ? document.items.map(stepCase) : document.kind === "Result" ? doneCases(document.items) : [];
  const cases = [...findings, ...steps];
  if (cases.length > 0) return cases;
  const name = document.kind === "Validation" ? "the manifests are valid" : "the account matches the manifests";
  return [{ result: "passed", xml: element("testcase", { name, classname: document.kind, time: 0 }) }];
}

function findingCase(finding: Finding, isReport: boolean, { filePrefix = "", caseFiles = false }: RenderOptions): TestCase {
  const { rule, title, severity, message, more = [], address, file, line } = finding;
  const isFailure = severity === "error" || (isReport && (rule === "drift" || rule === "manual"));
  const result = isFailure ? "failure" : "skipped";
  const path = file === undefined || file.startsWith("/") ? file : filePrefix + file;
  const place = path === undefined ? [] : [placeText({ file: path, line })];
  const lines = [...place, ...(isFailure ? [message, ...more] : [])];
  const attributes = {
    name: message === "" ? title : `${rule}: ${message}`,
    classname: address ?? file ?? rule,
    ...(caseFiles ? { file: path, line } : {}),
    time: 0,
  };
  const inside = element(result, { message, type: isFailure ? rule : undefined }, lines.map(escaped).join("\n"));
  return { result, xml: element("testcase", attributes, `\n      ${inside}\n    `) };
}

const passedCase = (name: string, address: string, output: string): TestCase => ({
  result: "passed",
  xml: element("testcase", { name, classname: address, time: 0 }, `\n      ${element("system-out", {}, escaped(output))}\n    `),
});

const stepCase = (item: Item): TestCase => passedCase(`${item.action} ${item.address}`, item.address, counted(changeCount(item), "change"));

const doneCases = (items: readonly ItemResult[]): readonly TestCase[] =>
  items
    .filter(isDone)
    .map(({ address, action = "apply", outcome, liveId }) =>
      passedCase(`${action} ${address}`, address, liveId === undefined ? outcome : `${outcome}, id ${liveId}`),
    );

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `inside`: XML. Attributes without a value are left out. */
function element(name: string, attributes: Attributes, inside = ""): string {
  const values = Object.entries(attributes).map(([key, value]) => (value === undefined ? "" : ` ${key}="${escaped(String(value))}"`));
  return `<${name}${values.join("")}${inside === "" ? "/>" : `>${inside}</${name}>`}`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** On one line, without the characters that XML 1.0 forbids: `visible` escapes them, except U+FFFE and U+FFFF. */
function escaped(text: string): string {
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text;
  return visible(cut)
    .replaceAll(/[\ufffe\uffff]/gu, "\ufffd")
    .replace(/[&<>"']/gu, (character) => entities[character] ?? "");
}
