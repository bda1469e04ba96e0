import type { Diagnostic } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { widthOf } from "../../text/width.ts";
import { placeText } from "../report/changes/changes.ts";
import { commandLines, severityPaint } from "./findings.ts";
import { cell, type Screen, tableLines, wrap } from "./layout.ts";

/**
 * One problem: location, code and summary; the source line with its caret; the message; a command.
 */
export function diagnosticLines(diagnostic: Diagnostic, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const { severity, code, summary, message, command, address = "", excerpt, line } = diagnostic;
  const color = severityPaint(severity, screen);
  const where = placeText(diagnostic) || visible(address);
  return [
    ...tableLines([[cell(where, paint.bold), cell(visible(code), color), cell(visible(summary), paint.bold)]], "", width),
    ...(excerpt === undefined ? [] : excerptLines(excerpt, line, color, screen)),
    ...wrap(message, "    ", width),
    ...commandLines(command, screen),
  ];
}

/**
 * The source line and its caret beside the line number. An escape takes more columns than its
 * character, so the caret moves along. A long line is cut around the caret.
 */
function excerptLines(
  [source, caret]: readonly [string, string],
  line: number | undefined,
  color: (text: string) => string,
  { paint, width }: Screen,
): readonly string[] {
  const number = line === undefined ? "" : String(line);
  let shown = "";
  let marks = "";
  let index = 0;
  for (const character of source) {
    const text = character === "\t" ? "  " : visible(character);
    const marked = caret.slice(index, index + character.length).includes("^");
    shown += text;
    marks += (marked ? "^" : " ").repeat(widthOf(text));
    index += character.length;
  }
  // The caret can be past the last character, if something is missing there.
  if (caret.lastIndexOf("^") >= index) marks += `${" ".repeat(Math.max(0, caret.indexOf("^", index) - index))}^`;
  const textWidth = width - number.length - 7;
  const start = [...shown].length <= textWidth ? 0 : Math.max(0, marks.indexOf("^") - Math.floor(textWidth / 3));
  const cut = (text: string) =>
    [...text]
      .slice(start, start + textWidth)
      .join("")
      .trimEnd();
  return [`    ${paint.dim(`${number} |`)} ${cut(shown)}`, `    ${paint.dim(`${" ".repeat(number.length)} |`)} ${color(cut(marks))}`];
}
