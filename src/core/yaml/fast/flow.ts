import { bail, byte, closeMembers, deepest, type JsonBuffer, openMembers, put, skipRest } from "./buffer.ts";
import { putKey, putScalar } from "./scalars.ts";

/*
 * Flow collections may span several lines: lines break between the parts, never within one. Any
 * other break (a scalar over two lines, a key without its colon on the line) leads to an unexpected
 * byte after the blank space, and to bail().
 */

/**
 * Writes `{ … }` or `[ … ]` without omitted values. `column`: of the enclosing block collection;
 * `depth`: number of open flow collections.
 */
export function putFlow(buffer: JsonBuffer, column: number, depth = 1): void {
  const { input } = buffer;
  const { marks } = buffer;
  const end = marks === undefined ? 0 : marks.push(buffer.length, buffer.at, buffer.at) - 1;
  const open = input[buffer.at++] ?? 0;
  const isMap = open === byte.openMap;
  const close = isMap ? byte.closeMap : byte.closeList;
  if (depth > deepest) bail();
  put(buffer, open);
  if (isMap) openMembers(buffer);
  skipBlank(buffer, column, depth);
  while (input[buffer.at] !== close) {
    if (isMap) {
      putKey(buffer, "flow");
      skipBlank(buffer, column, depth);
    }
    const first = input[buffer.at];
    if (first === byte.openMap || first === byte.openList) putFlow(buffer, column, depth + 1);
    else putScalar(buffer, "flow", column);
    skipBlank(buffer, column, depth);
    if (input[buffer.at] === close) break;
    if (input[buffer.at++] !== byte.comma) bail();
    skipBlank(buffer, column, depth);
    if (input[buffer.at] !== close) put(buffer, byte.comma);
  }
  buffer.at++;
  if (marks !== undefined) marks[end] = buffer.at;
  if (isMap) closeMembers(buffer);
  put(buffer, close);
}

/** Skips spaces, ends of lines, empty lines and comments. */
function skipBlank(buffer: JsonBuffer, column: number, depth: number): void {
  if (!skipRest(buffer)) return;
  const { input } = buffer;
  let line = buffer.at;
  while (skipRest(buffer)) {
    // After a value, the library treats such a comment as one without a space before it.
    if (input[line] === byte.hash) bail();
    line = buffer.at;
  }
  const indentation = buffer.at - line;
  if (indentation > column) return;
  // YAML (section 7.4) requires the last bracket to be indented, too. The library accepts it below
  // the key, where many people write it.
  const first = input[buffer.at];
  const isLast = depth === 1 && (first === byte.closeMap || first === byte.closeList);
  if (!isLast || indentation < column) bail();
}
