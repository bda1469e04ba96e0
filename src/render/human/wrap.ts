import { visibleLines } from "../visible.ts";
import { widthOf } from "./rows.ts";

/** A message as indented lines that fit the width where its words do; its own line breaks stay. */
export function wrap(message: string, indent: string, width: number): readonly string[] {
  return visibleLines(message).flatMap((line) => wrapLine(line, indent, width - indent.length));
}

function wrapLine(line: string, indent: string, room: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && widthOf(current) + 1 + widthOf(word) > room) {
      lines.push(indent + current);
      current = word;
    } else {
      current = current === "" ? word : `${current} ${word}`;
    }
  }
  return [...lines, current === "" ? "" : indent + current];
}
