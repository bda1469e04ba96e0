import { cutMiddle } from "../../base/text/values.ts";
import type { ChangeLine } from "../report/change-lines.ts";
import type { Words } from "../report/words.ts";
import { type Cell, cell, joined, type Screen, tableLines } from "./layout.ts";

/** Every change of an item, one per line. */
export const changeRows = (lines: readonly ChangeLine[], words: Words, screen: Screen): readonly string[] =>
  tableLines(
    lines.map((line) => [pathCell(line, screen), valueCell(line, words, screen), cell(line.why, screen.paint.dim)]),
    "    ",
    screen.width,
  );

function pathCell({ path: { node, leaf } }: ChangeLine, { paint }: Screen): Cell {
  if (node === "" || leaf === "") return cell(node + leaf);
  return joined(cell(`${node} `), cell(leaf, paint.cyan));
}

function valueCell(line: ChangeLine, words: Words, { paint, verbose, width }: Screen): Cell {
  const strong = line.isAlarm ? (text: string) => paint.bold(paint.red(text)) : paint.bold;
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
