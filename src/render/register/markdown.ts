import { kindNames } from "../../kinds/manifests.ts";
import { type Register, type RegisterDiff, type RegisterRow, sinceText, stateText } from "../../model/register.ts";
import { joinParts } from "../../text/lists.ts";
import type { RenderOptions } from "../document.ts";
import { code, prose, table } from "../markdown/escape.ts";
import { changeText, destinationPath, heads, noChanges, sourcePath, summaryCells, summaryHeads, totalText, verdictText } from "./texts.ts";

const defaultBudget = 60_000;

/** The totals, and as many columns as fit the budget: what is readable first. */
export function registerMarkdown(register: Register, { budget = defaultBudget }: RenderOptions): string {
  const { target, summary, rows } = register;
  const parts = [`## Register of ${prose(target)}`, `${prose(register.at)} · ${prose(totalText(register))}`];
  if (summary.length > 0)
    parts.push(
      table(
        summaryHeads,
        summary.map((one) => summaryCells(one).map(prose)),
      ),
    );
  const head = table([kindNames.integration, ...heads], []);
  let room = budget - parts.join("\n\n").length - head.length - 200;
  const lines: string[] = [];
  let left = 0;
  for (const isShown of [isReadable, (row: RegisterRow) => !isReadable(row)])
    for (const row of rows()) {
      if (!isShown(row)) continue;
      const line = `| ${cellsOf(row).join(" | ")} |`;
      room -= line.length + 1;
      if (room > 0) lines.push(line);
      else left++;
    }
  if (lines.length > 0) parts.push([head, ...lines].join("\n"));
  if (left > 0) parts.push(`… and ${left} more. See everything with \`dimsync register -o csv\`.`);
  return `${parts.join("\n\n")}\n`;
}

const isReadable = (row: RegisterRow): boolean => stateText(row) === "readable";

const cellsOf = (row: RegisterRow): readonly string[] => [
  prose(row.integration),
  code(sourcePath(row)),
  code(destinationPath(row)),
  `${prose(row.label)}<br>${prose(row.labelSource)}`,
  isReadable(row) ? `⚠️ **${stateText(row)}**` : stateText(row),
  joinParts([code(row.rule), prose(row.reason)], "<br>"),
  prose(verdictText(row)),
  sinceText(row),
];

export function registerDiffMarkdown({ target, from, to, changes }: RegisterDiff, { budget = defaultBudget }: RenderOptions): string {
  const head = `## Register of ${prose(target)}\n\n${prose(from)} → ${prose(to)}\n\n`;
  if (changes.length === 0) return `${head}${noChanges}\n`;
  const rows = changes.map((one) => [
    one.change,
    prose(one.row.integration),
    code(sourcePath(one.row)),
    prose(one.row.label),
    prose(changeText(one)),
  ]);
  let shown = rows.length;
  const draw = (): string =>
    `${head}${table(["Change", kindNames.integration, "Column", "Label", "State"], rows.slice(0, shown))}\n${shown < rows.length ? `\n… and ${rows.length - shown} more. See everything with \`-o csv\`.\n` : ""}`;
  while (shown > 0 && draw().length > budget) shown = Math.floor(shown / 2);
  return draw();
}
