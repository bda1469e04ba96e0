import type { Item, ItemResult } from "../model/plan.ts";
import { counted } from "./counts.ts";
import type { Document, RenderOptions } from "./document.ts";
import { hasChanges, summaryLine } from "./github.ts";
import { type Noteworthy, noteworthy } from "./noteworthy.ts";
import { visible, visibleLines } from "./visible.ts";
import { wordingOf } from "./wording.ts";

// GitLab reads reports of up to 30 MiB; a long message tells no more than its beginning.
const mostCharacters = 4_000;

interface TestCase {
  readonly name: string;
  readonly group: string;
  readonly file?: string;
  readonly line?: number;
  /** "failure": something is wrong; "skipped": it waits for something or somebody. Absent: passed. */
  readonly verdict?: { readonly element: "failure" | "skipped"; readonly type: string; readonly message: string };
  readonly output?: string;
}

/** JUnit XML as GitLab and Jenkins read it. */
export function renderJunit(document: Document, options: RenderOptions): string {
  return renderJunitAll([document], options);
}

/**
 * A test suite per target. A case for each thing that a person should see, failed where it is an error (in a drift report: where it differs), skipped
 * where it waits; a passed case for each step that is planned or done; one passed case where there is nothing to say, since readers refuse an empty suite.
 */
export function renderJunitAll(documents: readonly Document[], { filePrefix = "" }: RenderOptions): string {
  const suites = documents.map((document) => ({ document, cases: casesOf(document) }));
  const all = suites.flatMap(({ cases }) => cases);
  const body = suites.map(({ document, cases }) => suiteText(document, cases, filePrefix)).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="dimsync" ${counts(all)}>\n${body}</testsuites>\n`;
}

function casesOf(document: Document): readonly TestCase[] {
  const isReport = document.kind === "DriftReport";
  const findings = noteworthy(document).map((entry) => findingCase(entry, isReport));
  const steps =
    document.kind === "Plan" ? document.items.map(stepCase) : document.kind === "Result" ? document.items.flatMap(doneCase) : [];
  const cases = [...findings, ...steps];
  return cases.length > 0
    ? cases
    : [{ name: document.kind === "Validation" ? "the manifests are valid" : "the account equals the manifests", group: document.kind }];
}

function findingCase({ rule, title, severity, message, address, file, line }: Noteworthy, isReport: boolean): TestCase {
  const isFailure = severity === "error" || (isReport && (rule === "drift" || rule === "manual"));
  const first = visibleLines(message)[0] ?? "";
  return {
    name: first === "" ? title : `${rule}: ${first}`,
    group: address ?? file ?? rule,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(isFailure
      ? { verdict: { element: "failure" as const, type: rule, message } }
      : { verdict: { element: "skipped" as const, type: rule, message } }),
  };
}

const stepCase = ({ address, action, changes }: Item): TestCase => ({
  name: `${action} ${address}`,
  group: address,
  output: counted(changes.length, "change"),
});

function doneCase({ address, action, outcome, liveId }: ItemResult): readonly TestCase[] {
  if (outcome !== "done" && outcome !== "recovered") return [];
  return [{ name: `${action ?? "apply"} ${address}`, group: address, output: liveId === undefined ? outcome : `${outcome}, id ${liveId}` }];
}

function suiteText(document: Document, cases: readonly TestCase[], prefix: string): string {
  const name =
    document.kind === "Validation"
      ? "dimsync validate"
      : document.kind === "Result"
        ? `dimsync apply ${document.target}`
        : `${wordingOf(document).command} ${document.target}`;
  const time =
    document.kind === "Validation"
      ? ""
      : ` timestamp="${attribute((document.kind === "Result" ? document.startedAt : document.createdAt).slice(0, 19))}"`;
  const properties = [
    ["summary", summaryLine(document)],
    ["exit_code", String(document.exit.code)],
    ["has_changes", String(hasChanges(document))],
  ].map(([key, value]) => `      <property name="${key}" value="${attribute(value ?? "")}"/>\n`);
  return `  <testsuite name="${attribute(name)}"${time} ${counts(cases)}>\n    <properties>\n${properties.join("")}    </properties>\n${cases
    .map((one) => caseText(one, prefix))
    .join("")}  </testsuite>\n`;
}

function caseText({ name, group, file, line, verdict, output }: TestCase, prefix: string): string {
  const place =
    file === undefined
      ? ""
      : ` file="${attribute(file.startsWith("/") ? file : prefix + file)}"${line === undefined ? "" : ` line="${line}"`}`;
  const head = `    <testcase name="${attribute(name)}" classname="${attribute(group)}"${place} time="0"`;
  if (verdict !== undefined) {
    const { element, type, message } = verdict;
    const lines = visibleLines(message);
    const kind = element === "failure" ? ` type="${attribute(type)}"` : "";
    const text = element === "failure" ? `>${content(lines.join("\n"))}</failure>` : "/>";
    return `${head}>\n      <${element} message="${attribute(lines[0] ?? "")}"${kind}${text}\n    </testcase>\n`;
  }
  return output === undefined ? `${head}/>\n` : `${head}>\n      <system-out>${content(output)}</system-out>\n    </testcase>\n`;
}

function counts(cases: readonly TestCase[]): string {
  const of = (element: "failure" | "skipped"): number => cases.filter(({ verdict }) => verdict?.element === element).length;
  return `tests="${cases.length}" failures="${of("failure")}" errors="0" skipped="${of("skipped")}" time="0"`;
}

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&apos;"],
]);

/** For an attribute: one line, no characters that XML 1.0 forbids (`visible` has written them as escapes; what is left are U+FFFE and U+FFFF). */
function attribute(text: string): string {
  return escaped(visible(cut(text)));
}

function content(text: string): string {
  return visibleLines(cut(text)).map(escaped).join("\n");
}

const escaped = (text: string): string =>
  text.replaceAll(/[\ufffe\uffff]/gu, "\ufffd").replace(/[&<>"']/gu, (character) => entities.get(character) ?? "");

const cut = (text: string): string => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text);
