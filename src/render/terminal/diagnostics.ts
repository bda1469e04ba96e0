import type { Diagnostic, Severity } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { placeText } from "../report/changes.ts";
import type { Screen } from "./layout.ts";
import { widthOf, wrap } from "./layout.ts";

/** One diagnostic: place, code, summary; the source line with its caret; the message; a command on a line of its own. */
export function diagnosticLines(diagnostic: Diagnostic, screen: Screen): readonly string[] {
  const { paint } = screen;
  const where = placeText(diagnostic) || visible(diagnostic.address ?? "");
  const color = severityColor(diagnostic.severity, screen);
  const head = [where === "" ? "" : paint.bold(where), color(visible(diagnostic.code)), paint.bold(visible(diagnostic.summary))]
    .filter((part) => part !== "")
    .join("  ");
  return [
    head,
    ...(diagnostic.excerpt === undefined ? [] : excerptLines(diagnostic.excerpt, diagnostic.line, color, screen)),
    ...wrap(diagnostic.message, "  ", screen.width),
    ...(diagnostic.command === undefined ? [] : [`    ${paint.cyan(visible(diagnostic.command))}`]),
  ];
}

export function severityColor(severity: Severity, { paint }: Screen): (text: string) => string {
  return { error: paint.red, warning: paint.yellow, info: paint.cyan }[severity];
}

/** Source and caret under a gutter with the line's number, moved together where characters are shown as escapes, cut around the caret. */
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
  // A caret behind the last character: something is missing there.
  if (caret.lastIndexOf("^") >= index) marks += `${" ".repeat(Math.max(0, caret.indexOf("^", index) - index))}^`;
  const room = width - number.length - 5;
  const start = [...shown].length <= room ? 0 : Math.max(0, marks.indexOf("^") - Math.floor(room / 3));
  const cut = (text: string) =>
    [...text]
      .slice(start, start + room)
      .join("")
      .trimEnd();
  return [`  ${paint.dim(`${number} |`)} ${cut(shown)}`, `  ${paint.dim(`${" ".repeat(number.length)} |`)} ${color(cut(marks))}`];
}
