import { closeMembers, openMembers } from "./plain-yaml-members.ts";
import { putKey, putScalar } from "./plain-yaml-scalars.ts";
import { byte, deepest, put, skipRest, stepAside, type Tape } from "./plain-yaml-tape.ts";

/*
 * Flow collections may go over several lines, as import writes long lists: lines break between the parts, never within one. What is no such break (text
 * over two lines, a key without its colon on the line) shows as something unexpected behind the blank space.
 */

/** `{ … }` or `[ … ]` with no value left out in it. `column` is that of the block collection around it, `depth` the number of flow collections open. */
export function putFlow(tape: Tape, column: number, depth = 1): void {
  const { input } = tape;
  if (tape.marks !== undefined) tape.marks.push(tape.length, tape.at, tape.at);
  const open = input[tape.at++] ?? 0;
  const isMap = open === byte.openMap;
  const close = isMap ? byte.closeMap : byte.closeList;
  if (depth > deepest) stepAside();
  put(tape, open);
  if (isMap) openMembers(tape);
  skipBlank(tape, column, depth);
  while (input[tape.at] !== close) {
    if (isMap) {
      putKey(tape, "flow");
      skipBlank(tape, column, depth);
    }
    const first = input[tape.at];
    if (first === byte.openMap || first === byte.openList) putFlow(tape, column, depth + 1);
    else putScalar(tape, "flow");
    skipBlank(tape, column, depth);
    if (input[tape.at] === close) break;
    if (input[tape.at++] !== byte.comma) stepAside();
    skipBlank(tape, column, depth);
    if (input[tape.at] !== close) put(tape, byte.comma);
  }
  tape.at++;
  if (isMap) closeMembers(tape);
  put(tape, close);
}

/** Skips spaces, ends of lines, empty lines and comments. */
function skipBlank(tape: Tape, column: number, depth: number): void {
  if (!skipRest(tape)) return;
  const { input } = tape;
  let line = tape.at;
  while (skipRest(tape)) {
    // Behind a value, the library takes such a comment for one without a space before it.
    if (input[line] === byte.hash) stepAside();
    line = tape.at;
  }
  const indentation = tape.at - line;
  if (indentation > column) return;
  // YAML §7.4 wants the last bracket indented too; the library lets it stand below the key, where many write it.
  const first = input[tape.at];
  const isLast = depth === 1 && (first === byte.closeMap || first === byte.closeList);
  if (!isLast || indentation < column) stepAside();
}
