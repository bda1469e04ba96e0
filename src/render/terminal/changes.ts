import type { Action, Change } from "../../model/plan.ts";
import { isSecretReference } from "../../model/secret.ts";
import { type PathText, pathText, spaced, wholePath } from "../../text/paths.ts";
import { cutMiddle, valueText } from "../../text/values.ts";
import { attributionText, originText, traceOfAll } from "../report/attribution.ts";
import { causeText, flattenChanges } from "../report/changes.ts";
import { groupByRule } from "../report/groups.ts";
import type { Wording } from "../report/wording.ts";
import type { Screen } from "./layout.ts";
import { alignRows, type Cell, cell, joined, type Row } from "./layout.ts";

// From this many changes on, a table's name is a heading and its columns stand below it.
const tableHeadingFrom = 3;
const indent = "    ";

/** How changes are shown: one a line, or by rule with counts and examples. */
export type Grouping = "each" | "by rule";

/** The aligned lines below an item's header. */
export function changeLines(
  changes: readonly Change[],
  action: Action,
  grouping: Grouping,
  screen: Screen,
  wording: Wording,
): readonly string[] {
  const draw = (change: Change, path: Cell): Row => [
    path,
    valueCell(change, action, screen, wording),
    riskCell(change.risk, screen, wording),
    cell(originText(change.origin), screen.paint.magenta),
    cell(attributionText(change.attribution)),
    causeCell(change, screen),
  ];
  const shown = flattenChanges(changes, action);
  const rows = grouping === "each" ? rowsByTable(shown, draw, screen) : rowsByRule(shown, draw, screen, wording);
  return alignRows(rows, indent);
}

type Draw = (change: Change, path: Cell) => Row;

function rowsByTable(changes: readonly Change[], draw: Draw, screen: Screen): readonly Row[] {
  const byTable = new Map<string, { readonly change: Change; readonly path: PathText }[]>();
  for (const change of changes) {
    const path = pathText(change.path);
    const key = path.table ?? "";
    byTable.set(key, [...(byTable.get(key) ?? []), { change, path }]);
  }
  return [...byTable].flatMap(([table, entries]): readonly Row[] => {
    if (table === "" || entries.length < tableHeadingFrom)
      return entries.map(({ change, path }) => draw(change, pathCell(path.node, path.leaf, screen)));
    return [
      indent + table,
      ...entries.map(({ change, path }) => draw(change, joined(cell("  "), pathCell(path.nodeInTable, path.leaf, screen)))),
    ];
  });
}

function rowsByRule(changes: readonly Change[], draw: Draw, screen: Screen, wording: Wording): readonly Row[] {
  return groupByRule(changes).flatMap(({ first, changes: group }): readonly Row[] => {
    const { node, leaf } = pathText(first.path);
    if (group.length === 1) return [draw(first, pathCell(node, leaf, screen))];
    const shown = first.risk === wording.alarm ? 10 : 3;
    const names = group.slice(0, shown).map(({ path }) => pathText(path).node || wholePath(path));
    const more = group.length > shown ? ` and ${group.length - shown} more` : "";
    const { origin: _, attribution: __, ...untraced } = first;
    return [
      draw({ ...untraced, ...traceOfAll(group) }, cell(spaced(`${group.length} ×`, leaf))),
      `${indent}  ${screen.paint.dim(names.join(", ") + more)}`,
    ];
  });
}

function pathCell(node: string, leaf: string, { paint }: Screen): Cell {
  if (node === "" || leaf === "") return cell(node + leaf);
  return joined(cell(`${node} `), cell(leaf, paint.cyan));
}

function valueCell({ path, before, after, risk }: Change, action: Action, screen: Screen, wording: Wording): Cell {
  const { paint } = screen;
  const isReport = wording.title === "Drift";
  const strong = risk === wording.alarm ? (plain: string) => paint.bold(paint.red(plain)) : risk === "neutral" ? paint.bold : paint.green;
  const isNew = action === "create" && before === undefined;
  const whole = [
    isNew ? "" : shownValue(before, path, "(not shown)"),
    shownValue(after, path, isReport ? "(not declared)" : "(set by the service)"),
  ] as const;
  const [live, declared] = screen.verbose ? whole : fitPair(whole, before, after, Math.floor(screen.width / 2));
  if (isNew) return cell(declared, strong);
  if (!isReport) return joined(cell(live, paint.dim), cell(" → ", paint.dim), cell(declared, strong));
  return joined(cell("live ", paint.dim), cell(live), cell(", declared ", paint.dim), cell(declared, strong));
}

function shownValue(value: Change["before"], path: string, unknown: string): string {
  return value === undefined ? unknown : valueText(value, path.slice(path.lastIndexOf("/") + 1));
}

/** Both texts within the room, the shorter one whole if it takes no more than half; where a secret comes from is never cut. */
function fitPair(
  [a, b]: readonly [string, string],
  before: Change["before"],
  after: Change["after"],
  room: number,
): readonly [string, string] {
  if (a.length + b.length <= room) return [a, b];
  const half = Math.floor(room / 2);
  const cut = (text: string, value: Change["before"], other: string) =>
    isSecretReference(value) ? text : cutMiddle(text, Math.max(12, room - Math.min(other.length, half)));
  return [cut(a, before, b), cut(b, after, a)];
}

function riskCell(risk: Change["risk"], { paint }: Screen, wording: Wording): Cell {
  return cell(wording.risk[risk], risk === wording.alarm ? (text) => paint.bold(paint.red(text)) : paint.green);
}

function causeCell({ cause, risk }: Change, { paint, verbose }: Screen): Cell {
  return cell(cause === undefined ? "" : causeText(cause, verbose || risk === "exposes" || risk === "stricter"), paint.dim);
}
