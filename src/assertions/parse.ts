import { isNode, LineCounter, parseDocument } from "yaml";
import { nameMatcher } from "../kinds/patterns/names.ts";
import { DimsyncError } from "../model/errors.ts";
import { isObject, own } from "../model/json.ts";
import { didYouMean } from "../text/suggest.ts";

// Tests of an account, as `dimsync test` reads them: which nodes, of which integrations, are in what state. They are no manifests: they change
// nothing, and say nothing to plan and apply.

export interface Assertion {
  readonly name: string;
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Which integrations; all where there is no selector. */
  readonly integrations: {
    readonly names?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly tagged?: string;
  };
  /** Which schemas, tables or columns, the deepest level that is named; absent: the integrations themselves. */
  readonly that: NodeMatch | undefined;
  /** What each must be. */
  readonly is: Readonly<Record<string, string | boolean>>;
  /** "planned": as it is after an apply; "live": as it is now. */
  readonly state: "planned" | "live";
  /** Fewer nodes fail the test: one that looks at nothing proves nothing. */
  readonly atLeast: number;
}

export interface NodeMatch {
  readonly depth: 0 | 1 | 2;
  readonly schema: (name: string) => boolean;
  readonly table: (name: string) => boolean;
  readonly column: (name: string) => boolean;
  /** Only what is replicated: the node and everything above it is enabled. */
  readonly flows: boolean;
}

const members = ["name", "integrations", "that", "is", "state", "atLeast"];
const selectors = ["names", "labels", "tagged"];
const nodeMembers = ["schema", "table", "column", "ignoreCase", "flows"];
const nodeStates: Readonly<Record<0 | 1 | 2, readonly string[]>> = {
  0: ["enabled", "nameInDestination"],
  1: ["enabled", "nameInDestination", "syncMode", "cursorField"],
  2: ["enabled", "hashed", "nameInDestination", "isPrimaryKey"],
};
const integrationStates = ["name", "paused", "sourceName", "sourceType", "destinationName", "destinationType"];

/** The tests in the text of a file. Throws E_TESTS for a mistake, with its line. */
export function toAssertions(text: string, file: string): readonly Assertion[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: "1.2", schema: "core", lineCounter: lines, prettyErrors: false });
  const wrongAt =
    (line: number) =>
    (why: string): never => {
      throw new DimsyncError("E_TESTS", `${file}:${line}: ${why}`);
    };
  const lineOf = (path: readonly (string | number)[]): number => {
    const node = document.getIn(path, true);
    return isNode(node) ? lines.linePos(node.range?.[0] ?? 0).line : 1;
  };
  const [fault] = document.errors;
  if (fault !== undefined) return wrongAt(lines.linePos(fault.pos[0]).line)(`It is no YAML. ${fault.message.replace(/\.?$/u, ".")}`);
  const value: unknown = document.toJS();
  const wrong: Wrong = wrongAt(1);
  if (!isObject(value) || value["kind"] !== "Tests" || value["apiVersion"] !== "dimsync/v1" || !Array.isArray(value["tests"]))
    return wrong("A file of tests begins with `apiVersion: dimsync/v1` and `kind: Tests`, and holds a list `tests`.");
  checkKeys(value, ["apiVersion", "kind", "tests"], "the file", wrong);
  return value["tests"].map((test: unknown, index) => {
    const line = lineOf(["tests", index]);
    return toAssertion(test, file, line, (why) => wrongAt(line)(`Test ${index + 1}: ${why}`));
  });
}

type Wrong = (why: string) => never;

function toAssertion(test: unknown, file: string, line: number, wrong: Wrong): Assertion {
  if (!isObject(test)) return wrong("It is no map with `name`, `that` and `is`.");
  checkKeys(test, members, "a test", wrong);
  const { name, is, state = "planned", atLeast = 1 } = test;
  if (typeof name !== "string" || name === "") return wrong("It has no `name`: a sentence that says what must hold.");
  if (state !== "planned" && state !== "live") return wrong("`state` is planned (after an apply) or live (now).");
  if (typeof atLeast !== "number" || !Number.isInteger(atLeast) || atLeast < 0) return wrong("`atLeast` is a whole number.");
  const that = test["that"] === undefined ? undefined : toNodeMatch(test["that"], wrong);
  if (!isObject(is) || Object.keys(is).length === 0) return wrong("It has no `is`: what must be so, such as { hashed: true }.");
  const allowed = that === undefined ? integrationStates : nodeStates[that.depth];
  checkKeys(is, allowed, "`is`", wrong);
  for (const expected of Object.values(is))
    if (typeof expected !== "string" && typeof expected !== "boolean") wrong("The values of `is` are texts, true or false.");
  return {
    name,
    file,
    line,
    integrations: toSelector(test["integrations"], wrong),
    that,
    is: is as Readonly<Record<string, string | boolean>>,
    state,
    atLeast,
  };
}

function toSelector(value: unknown, wrong: Wrong): Assertion["integrations"] {
  if (value === undefined) return {};
  if (!isObject(value)) return wrong("`integrations` is a map with `names`, `labels` or `tagged`.");
  checkKeys(value, selectors, "`integrations`", wrong);
  const { names, labels, tagged } = value;
  if (names !== undefined && !isTexts(names)) return wrong("`integrations.names` is a list of names or globs.");
  if (labels !== undefined && !(isObject(labels) && Object.values(labels).every((label) => typeof label === "string")))
    return wrong("`integrations.labels` is a map of texts.");
  if (tagged !== undefined && typeof tagged !== "string") return wrong("`integrations.tagged` is the name of a tag.");
  return {
    ...(names === undefined ? {} : { names }),
    ...(labels === undefined ? {} : { labels: labels as Readonly<Record<string, string>> }),
    ...(tagged === undefined ? {} : { tagged }),
  };
}

function toNodeMatch(value: unknown, wrong: Wrong): NodeMatch {
  if (!isObject(value)) return wrong("`that` is a map with `schema`, `table` and `column`.");
  checkKeys(value, nodeMembers, "`that`", wrong);
  const ignoreCase = value["ignoreCase"] === true;
  const level = (key: "schema" | "table" | "column"): ((name: string) => boolean) => {
    const patterns = own(value, key);
    if (patterns === undefined) return () => true;
    const list = typeof patterns === "string" ? [patterns] : patterns;
    if (!isTexts(list)) return wrong(`\`that.${key}\` is a name, a glob, or a list of them.`);
    return nameMatcher(list, { ignoreCase });
  };
  const depth = value["column"] !== undefined ? 2 : value["table"] !== undefined ? 1 : 0;
  if (depth === 0 && value["schema"] === undefined) return wrong("`that` names no level: give `schema`, `table` or `column`.");
  return { depth, schema: level("schema"), table: level("table"), column: level("column"), flows: value["flows"] === true };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");

function checkKeys(value: Readonly<Record<string, unknown>>, known: readonly string[], what: string, wrong: Wrong): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined)
    wrong(`${what} has no member ${JSON.stringify(unknown)}; it has ${known.join(", ")}.${didYouMean(unknown, known)}`);
}
