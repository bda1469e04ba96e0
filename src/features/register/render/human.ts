import type { Register } from "../../../core/model/register.ts";
import type { RenderOptions } from "../../../core/render/document.ts";
import { headedTable, shortTable } from "../../../core/render/terminal/blocks.ts";
import { type Screen, screenOf, wrap } from "../../../core/render/terminal/layout.ts";
import { visible } from "../../../core/text/control-characters.ts";
import { byIntegration, columnTable, summaryTable, totalText } from "./texts.ts";

const indent = "  ";

const headLine = (title: string, beside: string, { paint }: Screen): string =>
  `${paint.bold(visible(title))}   ${paint.dim(visible(beside))}\n`;

/** The totals, then the columns of each integration. One integration is in memory at a time. */
export function* registerText(register: Register, options: RenderOptions): Iterable<string> {
  const screen = screenOf(options);
  const { width, verbose } = screen;
  const { target, at, summary, rows } = register;
  yield `${headLine(`Register of ${target}`, at, screen)}${wrap(totalText(register), "", width).join("\n")}\n`;
  if (summary.length === 0) return;
  yield `\n${headedTable(summaryTable(register), screen, indent).join("\n")}\n`;
  let isCut = false;
  for (const group of byIntegration(rows)) {
    const [{ integration, source, destination }] = group;
    const table = columnTable(group);
    const { lines, isWhole } = verbose ? { lines: headedTable(table, screen, indent), isWhole: true } : shortTable(table, screen, indent);
    isCut ||= !isWhole;
    yield `\n${headLine(integration, `${source} → ${destination}`, screen)}${lines.join("\n")}\n`;
  }
  if (isCut) yield `\n${wrap("The terminal is too narrow for everything: -v shows it.", "", width).join("\n")}\n`;
}
