import { andMore, grouped } from "../../text/lists.ts";
import { spaced } from "../../text/paths.ts";
import { cutMiddle } from "../../text/values.ts";
import type { ChangeLine, RuleChanges } from "../blocks.ts";
import { attributionText, originText, traceText } from "../report/attribution.ts";
import { causeText } from "../report/changes/changes.ts";
import type { Words } from "../report/words.ts";
import { type Cell, cell, joined, type LayoutRow, type Screen, tableLines, textOf } from "./layout.ts";

// For this many changes or more, a table's name is a heading and its columns are below it.
const tableHeadingFrom = 3;
const indent = "    ";

/** Every change of an item, one per line. */
export function changeRows(lines: readonly ChangeLine[], words: Words, screen: Screen): readonly string[] {
  const row = (line: ChangeLine, path: Cell): LayoutRow => [
    path,
    valueCell(line, words, screen),
    cell(line.risk, riskPaint(line, screen)),
    cell(originText(line.trace.origin), screen.paint.magenta),
    cell(attributionText(line.trace)),
    cell(line.decidedBy + (line.reason !== "" && (screen.verbose || line.risk === "exposes") ? ` (${line.reason})` : ""), screen.paint.dim),
    // An empty last column would take the place of the cause, which may wrap.
    ...(line.label === "" ? [] : [cell(line.label, screen.paint.dim)]),
  ];
  const rows = grouped(lines, ({ path }) => path.table ?? "").flatMap((group): readonly LayoutRow[] => {
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

/** The changes of each rule, with examples. */
export function ruleRows(rules: readonly RuleChanges[], screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const rows = rules.flatMap((one): readonly LayoutRow[] => {
    const { what, risk, trace, reason, examples, count, level, isAlarm } = one;
    const strong = riskPaint(one, screen);
    const cause = spaced(causeText(one), reason === "" ? "" : `(${reason})`);
    const lines = [
      cell(what, isAlarm ? strong : paint.bold),
      joined(cell(cause), cell(cause === "" || traceText(trace) === "" ? "" : "   "), cell(traceText(trace), paint.magenta)),
      cell(andMore(examples, level, { shown: examples.length, total: count }), paint.dim),
    ];
    return lines
      .filter((line, index) => index !== 1 || textOf(line) !== "")
      .map((line, index) => [cell(index === 0 ? risk : "", strong), line]);
  });
  return tableLines(rows, indent, width);
}

function pathCell(node: string, leaf: string, { paint }: Screen): Cell {
  if (node === "" || leaf === "") return cell(node + leaf);
  return joined(cell(`${node} `), cell(leaf, paint.cyan));
}

function valueCell(line: ChangeLine, words: Words, screen: Screen): Cell {
  const { paint, verbose, width } = screen;
  const strong = line.isAlarm ? riskPaint(line, screen) : line.risk === "" ? paint.bold : paint.green;
  if (line.live === "") return cell(line.desired, strong);
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
