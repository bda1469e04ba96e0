import { placeText } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";

// GitLab reads reports of up to 30 MiB, so long messages are cut.
const mostCharacters = 4_000;

export interface TestCase {
  readonly name: string;
  readonly group: string;
  readonly file?: string;
  readonly line?: number;
  /** "failure": something is wrong; "skipped": it waits for something or someone. Absent: passed. */
  readonly result?: { readonly element: "failure" | "skipped"; readonly type: string; readonly lines: readonly string[] };
  readonly output?: string;
}

export interface TestSuite {
  readonly name: string;
  /** ISO 8601 */
  readonly at?: string;
  readonly properties: readonly (readonly [key: string, value: string])[];
  readonly cases: readonly TestCase[];
}

/**
 * How to write the location of a case. `prefix`: the path from the repository's root to the folder
 * that files are relative to.
 */
export interface Placing {
  readonly prefix: string;
  readonly isLinked: boolean;
}

/** The report as text. JUnit readers refuse a suite without a case. */
export function junitText(suites: readonly TestSuite[], placing: Placing): string {
  const body = suites.map((suite) => suiteText(suite, placing)).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="dimsync" ${counts(suites.flatMap(({ cases }) => cases))} time="0">\n${body}</testsuites>\n`;
}

function suiteText({ name, at, properties, cases }: TestSuite, placing: Placing): string {
  const time = at === undefined ? "" : ` timestamp="${attribute(at.slice(0, 19))}"`;
  const members = properties.map(([key, value]) => `      <property name="${key}" value="${attribute(value)}"/>\n`);
  return `  <testsuite name="${attribute(name)}"${time} ${counts(cases)} skipped="${withResult(cases, "skipped")}" time="0">\n    <properties>\n${members.join("")}    </properties>\n${cases
    .map((one) => caseText(one, placing))
    .join("")}  </testsuite>\n`;
}

function caseText({ name, group, file, line, result, output }: TestCase, { prefix, isLinked }: Placing): string {
  const path = file === undefined || file.startsWith("/") ? file : prefix + file;
  const link = path === undefined || !isLinked ? "" : ` file="${attribute(path)}"${line === undefined ? "" : ` line="${line}"`}`;
  const head = `    <testcase name="${attribute(name)}" classname="${attribute(group)}"${link} time="0"`;
  if (result !== undefined) {
    const { element, type, lines } = result;
    const kind = element === "failure" ? ` type="${attribute(type)}"` : "";
    const place = path === undefined ? [] : [placeText({ file: path, line })];
    const body = element === "failure" ? [...place, ...lines] : place;
    const text = body.length === 0 ? "/>" : `>${body.map(content).join("\n")}</${element}>`;
    return `${head}>\n      <${element} message="${attribute(lines[0] ?? "")}"${kind}${text}\n    </testcase>\n`;
  }
  return output === undefined ? `${head}/>\n` : `${head}>\n      <system-out>${content(output)}</system-out>\n    </testcase>\n`;
}

const withResult = (cases: readonly TestCase[], element: "failure" | "skipped"): number =>
  cases.filter(({ result }) => result?.element === element).length;

const counts = (cases: readonly TestCase[]): string => `tests="${cases.length}" failures="${withResult(cases, "failure")}" errors="0"`;

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&apos;"],
]);

/**
 * For an attribute: one line, no characters that XML 1.0 forbids (`visible` escapes them, except
 * U+FFFE and U+FFFF).
 */
function attribute(text: string): string {
  return escaped(visible(cut(text)));
}

function content(line: string): string {
  return escaped(visible(cut(line)));
}

const escaped = (text: string): string =>
  text.replaceAll(/[\ufffe\uffff]/gu, "\ufffd").replace(/[&<>"']/gu, (character) => entities.get(character) ?? "");

const cut = (text: string): string => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text);
