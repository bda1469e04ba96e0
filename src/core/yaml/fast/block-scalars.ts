import { bail, byte, type JsonBuffer, put, skipRest } from "./buffer.ts";

/**
 * Writes a `|` or `>` string with its lines. `column` is that of the collection around it, which
 * the lines must exceed. Only the usual form: bails on explicit indentation, `+`, more-indented
 * lines in `>`, and blank lines with extra spaces.
 */
export function putBlockScalar(buffer: JsonBuffer, column: number): void {
  const { input } = buffer;
  if (buffer.marks !== undefined) bail();
  const isFolded = input[buffer.at++] === byte.greater;
  const isStripped = input[buffer.at] === byte.dash;
  if (isStripped) buffer.at++;
  if (!skipRest(buffer)) bail();
  put(buffer, byte.quote);
  putLines(buffer, column, isFolded);
  if (!isStripped) putBreaks(buffer, 1);
  put(buffer, byte.quote);
}

function putLines(buffer: JsonBuffer, column: number, isFolded: boolean): void {
  const { input } = buffer;
  let indent = 0;
  let blanks = 0;
  let widestBlank = 0;
  for (let line = buffer.at; line < input.length; line = buffer.at) {
    let at = line;
    while (input[at] === byte.space) at++;
    const spaces = at - line;
    if (input[at] === byte.lineFeed) {
      if (spaces > widestBlank) widestBlank = spaces;
      blanks++;
      buffer.at = at + 1;
      continue;
    }
    const isFirst = indent === 0;
    if (isFirst && spaces > column) indent = spaces;
    if (isFirst ? indent === 0 : spaces < indent) break;
    if (widestBlank > indent || (isFolded && spaces > indent)) bail();
    if (isFirst || !isFolded) putBreaks(buffer, isFirst ? blanks : blanks + 1);
    else if (blanks === 0) put(buffer, byte.space);
    else putBreaks(buffer, blanks);
    blanks = 0;
    putContent(buffer, line + indent);
  }
  if (indent === 0 || widestBlank > indent) bail();
}

/** Writes a line from `at` up to its end. */
function putContent(buffer: JsonBuffer, start: number): void {
  const { input, json } = buffer;
  let { length } = buffer;
  let at = start;
  for (; input[at] !== byte.lineFeed; at++) {
    const value = input[at] ?? 0;
    if (value < byte.space) bail();
    if (value === byte.quote || value === byte.backslash) json[length++] = byte.backslash;
    json[length++] = value;
  }
  buffer.length = length;
  buffer.at = at + 1;
}

function putBreaks(buffer: JsonBuffer, count: number): void {
  for (let index = 0; index < count; index++) {
    put(buffer, byte.backslash);
    put(buffer, lowerN);
  }
}

const lowerN = 0x6e;
