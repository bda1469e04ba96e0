import { type Address, type Binding, type Bindings, byText } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import { sameJson } from "../../model/json/json.ts";
import type { PlainNode } from "../../yaml/fast/nodes.ts";
import { afterLine, eolOf, lineStart } from "../../yaml/nodes.ts";
import { doubleQuoted, stringYaml } from "../../yaml/print.ts";
import { type BindingsText, type Member, memberOf, membersOf, parseBindingsText } from "./bindings-text.ts";

// The file is a table: one line per object, sorted, so that git can merge two branches that bound
// different objects. A change replaces, adds or removes lines. All others stay byte for byte, each
// with the comments and blank lines above it, and so do members of later versions. The result is read
// back, so a form that this code does not understand is refused, never broken.

/**
 * The text with other bindings of the target; undefined removes a line. The same object if nothing changes.
 * Throws E_BINDINGS_FILE if the file has a form in which that is not possible.
 */
export function changeTarget(before: BindingsText, target: string, changes: ReadonlyMap<Address, Binding | undefined>): BindingsText {
  const wanted = new Map(before.bindings.get(target));
  if ([...changes].every(([address, binding]) => sameJson(wanted.get(address), binding))) return before;
  for (const [address, binding] of changes) {
    if (binding === undefined) wanted.delete(address);
    else wanted.set(address, binding);
  }
  const after = parseBindingsText(changedText(before, target, changes), before.file);
  const expected = new Map(before.bindings).set(target, wanted);
  if (after.bindings.size === expected.size && [...expected].every(([name, bindings]) => sameBindings(after.bindings.get(name), bindings)))
    return after;
  throw new DimsyncError(
    "E_BINDINGS_FILE",
    `${before.file}: The bindings file cannot be changed, because it has a form that dimsync does not write. Write each binding as ADDRESS: { id: "…" } on a line of its own.`,
  );
}

const sameBindings = (a: Bindings | undefined, b: Bindings): boolean =>
  a?.size === b.size && [...b].every(([address, binding]) => sameJson(a.get(address), binding));

/** A member of a map. */
interface Line {
  /** The comments and blank lines above it. */
  readonly above: string;
  /** With the line break at its end. */
  readonly text: string;
  /** What follows the value on its line: perhaps a comment, and the line break. */
  readonly rest: string;
  readonly node: PlainNode | undefined;
}

function changedText({ text, root }: BindingsText, target: string, changes: ReadonlyMap<Address, Binding | undefined>): string {
  const top: Member = { name: "", keyStart: -1, node: root };
  const targets = memberOf(root, "targets");
  const own = memberOf(targets?.node, target);
  const column = columnIn(text, targets, 2);
  const ownColumn = columnIn(text, own, column + 2);
  const [topLines, targetLines, lines] = [linesIn(text, top, 0), linesIn(text, targets, column), linesIn(text, own, ownColumn)];
  const eol = eolOf(text);
  for (const [address, binding] of changes) {
    const line = lines.get(address);
    if (binding === undefined) lines.delete(address);
    else {
      const value = entryText(text, line?.node, binding);
      const above = `${line?.above ?? ""}${commentsIn(line?.text)}`;
      lines.set(address, { above, text: `${keyText(address, ownColumn, eol)} ${value}${line?.rest ?? eol}`, rest: "", node: undefined });
    }
  }
  const isNew = own?.node.names === undefined;
  putTable(targetLines, target, { text, member: own, column, lines: sorted(lines) });
  putTable(topLines, "targets", { text, member: targets, column: 0, lines: isNew ? sorted(targetLines) : targetLines });
  const start = isBlock(text, root) ? "" : text.slice(0, root.start);
  return start + joined(topLines) + text.slice(afterLine(text, endOf(text, top)));
}

interface Table {
  readonly text: string;
  /** The member that has the map now. */
  readonly member: Member | undefined;
  readonly column: number;
  readonly lines: ReadonlyMap<string, Line>;
}

/** Writes a member of `outer` whose value is a map in lines. */
function putTable(outer: Map<string, Line>, name: string, { text, member, column, lines }: Table): void {
  const line = outer.get(name);
  const key = keyText(name, column, eolOf(text));
  const isInLines = member !== undefined && (member.node.start === undefined || isBlock(text, member.node));
  const head = isInLines ? text.slice(lineStart(text, member.keyStart), firstLine(text, member)) : `${key}${line?.rest ?? eolOf(text)}`;
  const table = lines.size === 0 ? `${key} {}${eolOf(text)}` : head + joined(lines);
  outer.set(name, { above: line?.above ?? "", text: table, rest: "", node: undefined });
}

/** The members of a map as lines. Those of one in braces get lines at the column. */
function linesIn(text: string, map: Member | undefined, column: number): Map<string, Line> {
  const lines = new Map<string, Line>();
  if (map === undefined) return lines;
  const eol = eolOf(text);
  const withBreak = (line: string): string => (line.endsWith("\n") ? line : line + eol);
  let start = firstLine(text, map);
  for (const member of membersOf(map.node)) {
    const { name, keyStart, node } = member;
    if (!isBlock(text, map.node)) {
      lines.set(name, { above: "", text: `${keyText(name, column, eol)} ${inline(text, node)}${eol}`, rest: eol, node });
      continue;
    }
    const [from, valueEnd] = [lineStart(text, keyStart), endOf(text, member)];
    const end = afterLine(text, valueEnd);
    lines.set(name, {
      above: text.slice(start, from),
      text: withBreak(text.slice(from, end)),
      rest: withBreak(text.slice(valueEnd, end)),
      node,
    });
    start = end;
  }
  return lines;
}

const sorted = (lines: ReadonlyMap<string, Line>): ReadonlyMap<string, Line> => new Map([...lines].sort(([a], [b]) => byText(a, b)));

const joined = (lines: ReadonlyMap<string, Line>): string => [...lines.values()].map(({ above, text }) => above + text).join("");

/** Comments on lines of their own within a binding that becomes one line. */
const commentsIn = (line = ""): string =>
  line
    .split(/(?<=\n)/u)
    .filter((one) => /^\s*#/u.test(one))
    .join("");

/** The binding on one line, with the members of the known one that this version does not know. */
function entryText(text: string, known: PlainNode | undefined, { id, secretVersion, sent }: Binding): string {
  const members = new Map((known === undefined ? [] : membersOf(known)).map(({ name, node }) => [name, inline(text, node)]));
  const digests = Object.entries(sent ?? {}).sort(([a], [b]) => byText(a, b));
  const put = (name: string, value: string | undefined): unknown => (value === undefined ? members.delete(name) : members.set(name, value));
  put("id", doubleQuoted(id));
  put("secretVersion", secretVersion === undefined ? undefined : String(secretVersion));
  put(
    "sent",
    sent === undefined ? undefined : braces(digests.map(([pointer, digest]) => `${doubleQuoted(pointer)}: ${doubleQuoted(digest)}`)),
  );
  return braces([...members].map(([name, value]) => `${stringYaml(name)}: ${value}`));
}

const braces = (members: readonly string[]): string => (members.length === 0 ? "{}" : `{ ${members.join(", ")} }`);

/** A value on one line. */
function inline(text: string, node: PlainNode): string {
  const { start, end, literal, nodes, names } = node;
  if (start === undefined) return "null";
  const source = text.slice(start, end);
  if (nodes === undefined) return typeof literal === "string" && !/^(?:"[^\n]*"|'[^\n]*')$/u.test(source) ? stringYaml(literal) : source;
  if (!isBlock(text, node) && !source.includes("\n")) return source;
  if (names === undefined) return `[${nodes.map((item) => inline(text, item)).join(", ")}]`;
  return braces(membersOf(node).map((member) => `${stringYaml(member.name)}: ${inline(text, member.node)}`));
}

/** YAML allows longer keys only after a question mark. */
const keyText = (name: string, column: number, eol: string): string => {
  const [indent, key] = [" ".repeat(column), stringYaml(name)];
  return key.length > 1024 ? `${indent}? ${key}${eol}${indent}:` : `${indent}${key}:`;
};

/** Whether the list or map is in lines, not in brackets or braces. */
const isBlock = (text: string, { start, nodes }: PlainNode): boolean =>
  start !== undefined && nodes !== undefined && text[start] !== "{" && text[start] !== "[";

/** The column of the keys of a map that is in lines. */
function columnIn(text: string, map: Member | undefined, otherwise: number): number {
  if (map === undefined || !isBlock(text, map.node)) return otherwise;
  const line = lineStart(text, map.node.start ?? 0);
  return text.slice(line).search(/[^ ]/u);
}

/** Where the lines of a map begin: below its key, and below the colon of a key after a question mark. */
function firstLine(text: string, { keyStart }: Member): number {
  if (keyStart < 0) return 0;
  const next = afterLine(text, keyStart + 1);
  return /^ *:/u.test(text.slice(next, next + 200)) ? afterLine(text, next + 1) : next;
}

/** Where the last value in a member ends. */
function endOf(text: string, { keyStart, node }: Member): number {
  if (node.start === undefined) return keyStart + 1;
  const last = (node.nodes?.length ?? 0) - 1;
  const child = node.nodes?.[last];
  if (child === undefined || !isBlock(text, node)) return node.end;
  return endOf(text, { name: "", keyStart: node.keyStarts[last] ?? node.start, node: child });
}
