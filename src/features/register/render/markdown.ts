import { kindNames } from "../../../core/kinds/manifests.ts";
import { type Register, type RegisterDiff, type RegisterRow, stateText } from "../../../core/model/register.ts";
import type { Row, Table } from "../../../core/render/blocks.ts";
import type { RenderOptions } from "../../../core/render/document.ts";
import { tableBlock, tableLine } from "../../../core/render/markdown/blocks.ts";
import { defaultBudget } from "../../../core/render/markdown/budget.ts";
import { prose } from "../../../core/render/markdown/escape.ts";
import { joinParts, moreOf } from "../../../core/text/lists.ts";
import { changeTable, columnTable, noChanges, summaryTable, totalText } from "./texts.ts";

// For the sentence that counts what is left out.
const spareRoom = 200;

/** The totals, and as many columns as fit the budget: what is readable first. */
export function registerMarkdown(register: Register, options: RenderOptions): string {
  const { target, at, summary, rows } = register;
  const top = [
    `## Register of ${prose(target)}`,
    `${prose(at)} · ${prose(totalText(register))}`,
    ...(summary.length > 0 ? [tableBlock(summaryTable(register))] : []),
  ];
  function* readableFirst(): Iterable<Row> {
    for (const isShown of [isReadable, (row: RegisterRow) => !isReadable(row)])
      for (const row of rows) if (isShown(row)) yield* columnTable([row]).rows.map((cells) => [[row.integration], ...cells]);
  }
  const { heads } = columnTable([]);
  return fitted(
    { top, heads: [kindNames.integration, ...heads], rows: readableFirst(), one: "column", more: "dimsync register -o csv" },
    options,
  );
}

const isReadable = (row: RegisterRow): boolean => stateText(row) === "readable";

export function registerDiffMarkdown(diff: RegisterDiff, options: RenderOptions): string {
  const { target, from, to, changes } = diff;
  const top = [`## Register of ${prose(target)}`, `${prose(from)} → ${prose(to)}`, ...(changes.length === 0 ? [noChanges] : [])];
  return fitted({ top, ...changeTable(diff), one: "change", more: "-o csv" }, options);
}

interface LongTable extends Pick<Table, "heads"> {
  readonly top: readonly string[];
  readonly rows: Iterable<Row>;
  /** What each row is. */
  readonly one: string;
  /** What shows all of them. */
  readonly more: string;
}

/** As many rows as fit the budget. */
function fitted({ top, heads, rows, one, more }: LongTable, { budget = defaultBudget }: RenderOptions): string {
  const head = tableBlock({ heads, rows: [] });
  let room = budget - top.join("\n\n").length - head.length - spareRoom;
  const lines: string[] = [];
  let left = 0;
  for (const row of rows) {
    const line = tableLine(row);
    room -= line.length + 1;
    if (room > 0) lines.push(line);
    else left++;
  }
  const drawn = lines.length === 0 ? "" : [head, ...lines].join("\n");
  const rest = left === 0 ? "" : `… ${moreOf(left, one)}. See everything with \`${more}\`.`;
  return `${joinParts([...top, drawn, rest], "\n\n")}\n`;
}
