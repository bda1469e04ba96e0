import type { Action } from "../../model/plan.ts";
import { andMore, grouped, joinParts } from "../../text/lists.ts";
import { cutMiddle } from "../../text/values.ts";
import { traceText } from "../report/attribution.ts";
import type { ChangeLine } from "../report/changes/changes.ts";
import type { RulesGroup } from "../report/changes/groups.ts";
import { exposedText, type Words } from "../report/words.ts";
import { type Cell, cell, joined, type Row, type Screen, tableLines, textOf, wrap } from "./layout.ts";

// For this many changes or more, a table's name is a heading and its columns are below it.
const tableHeadingFrom = 3;
const indent = "    ";

/** Every change of an item, one per line. */
export function changeRows(lines: readonly ChangeLine[], action: Action, words: Words, screen: Screen): readonly string[] {
  const row = (line: ChangeLine, path: Cell): Row => [
    path,
    valueCell(line, action, words, screen),
    cell(line.risk, riskPaint(line, screen)),
    cell(line.origin, screen.paint.magenta),
    cell(line.who),
    cell(line.decidedBy + (line.reason !== "" && (screen.verbose || line.risk === "exposes") ? ` (${line.reason})` : ""), screen.paint.dim),
    // An empty last column would take the place of the cause, which may wrap.
    ...(line.label === "" ? [] : [cell(line.label, screen.paint.dim)]),
  ];
  const rows = grouped(lines, ({ path }) => path.table ?? "").flatMap((group): readonly Row[] => {
    const [{ path }] = group;
    if (path.table === undefined || group.length < tableHeadingFrom)
      return group.map((line) => row(line, pathCell(line.path.node, line.path.leaf, screen)));
    return [
      indent + path.table,
      ...group.map((line) => row(line, joined(cell("  "), pathCell(line.path.nodeInTable, line.path.leaf, screen)))),
    ];
  });
  return tableLines(rows, indent, screen.width);
}

// Examples of what a rule changes.
const fewExamples = 3;
const manyExamples = 10;

/** The changes of each rule, with examples; more of them if data becomes readable. */
export function ruleRows({ rules, exposed, exposedBy }: RulesGroup, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const rows = rules.flatMap((one): readonly Row[] => {
    const { rule, what, risk, trace, place, reason, nodes, count, isAlarm } = one;
    const strong = riskPaint(one, screen);
    const cause = joinParts([joinParts([rule, place], ", "), reason === "" ? "" : `(${reason})`], " ");
    const lines = [
      cell(what, isAlarm ? strong : paint.bold),
      joined(cell(cause), cell(cause === "" || traceText(trace) === "" ? "" : "   "), cell(traceText(trace), paint.magenta)),
      cell(andMore(nodes, { shown: isAlarm ? manyExamples : fewExamples, total: count }), paint.dim),
    ];
    return lines
      .filter((line, index) => index !== 1 || textOf(line) !== "")
      .map((line, index) => [cell(index === 0 ? risk : "", strong), line]);
  });
  const alarm = exposed === 0 ? [] : wrap(`${exposedText(exposed)}: ${andMore(exposedBy, { shown: manyExamples })}`, indent, width);
  return [...tableLines(rows, indent, width), ...alarm.map((line) => paint.bold(paint.red(line)))];
}

function pathCell(node: string, leaf: string, { paint }: Screen): Cell {
  if (node === "" || leaf === "") return cell(node + leaf);
  return joined(cell(`${node} `), cell(leaf, paint.cyan));
}

function valueCell(line: ChangeLine, action: Action, words: Words, screen: Screen): Cell {
  const { paint, verbose, width } = screen;
  const strong = line.isAlarm ? riskPaint(line, screen) : line.risk === "" ? paint.bold : paint.green;
  if (action === "create" && line.live === "") return cell(line.desired, strong);
  const [live, desired] = verbose || line.isSecret ? [line.live, line.desired] : fitPair(line.live, line.desired, Math.floor(width / 2));
  if (words.kind !== "DriftReport") return joined(cell(live, paint.dim), cell(" → ", paint.dim), cell(desired, strong));
  return joined(cell("live ", paint.dim), cell(live), cell(", desired ", paint.dim), cell(desired, strong));
}

/** Both texts in at most `width` characters, the middle of the longer one cut. */
function fitPair(a: string, b: string, width: number): readonly [string, string] {
  if (a.length + b.length <= width) return [a, b];
  const half = Math.floor(width / 2);
  const cut = (text: string, other: string): string => cutMiddle(text, Math.max(12, width - Math.min(other.length, half)));
  return [cut(a, b), cut(b, a)];
}

function riskPaint({ isAlarm }: { readonly isAlarm: boolean }, { paint }: Screen): (text: string) => string {
  return isAlarm ? (text) => paint.bold(paint.red(text)) : paint.green;
}
