import { isAscii, isUtf8 } from "node:buffer";

/** What git wrote into a file instead of its contents, as a sentence; `offset` is where. */
interface LeftByGit {
  readonly offset: number;
  readonly message: string;
}

/** Conflict markers in a text that cannot be read. */
export function conflictMarkers(text: string): LeftByGit | undefined {
  const found = /^(?:<{7} |={7}\r?$|>{7} )/mu.exec(text);
  if (found === null || !/^={7}\r?$/mu.test(text)) return undefined;
  return { offset: found.index, message: "The file has conflict markers of git here. Resolve the conflict." };
}

/** The end of a sentence that begins with the file's name, if the text is the pointer of a file in Git LFS. */
const lfsPointer = (text: string): string | undefined =>
  text.startsWith("version https://git-lfs.github.com/spec/")
    ? "is a pointer of Git LFS, not the file itself. Run git lfs pull; in GitHub Actions, set lfs: true for actions/checkout"
    : undefined;

/** The text of a file without its byte order mark, or the end of a sentence that begins with the file's name. */
export function decodeFile(bytes: Buffer): { readonly text: string; readonly hasMark: boolean } | { readonly refusal: string } {
  if (!isUtf8(bytes)) {
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    return { refusal: `is ${isUtf16 ? "UTF-16" : "not valid UTF-8"}. Save it as UTF-8` };
  }
  const text = bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
  const pointer = lfsPointer(text);
  if (pointer !== undefined) return { refusal: pointer };
  const hasMark = text.startsWith("\ufeff");
  return { text: hasMark ? text.slice(1) : text, hasMark };
}

/** Offsets (UTF-16) at which the lines of a text begin. */
export function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(lineStarts: readonly number[], offset: number): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = lineStarts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return { line: low, column: offset - (lineStarts[low - 1] ?? 0) + 1 };
}

/** A text that a manifest may have on several lines, as one paragraph. */
export const paragraph = (text: string): string => text.trim().replaceAll(/\s*\n\s*/gu, " ");

/** The line break of the first line. */
export const eolOf = (text: string): string => (text[text.indexOf("\n") - 1] === "\r" ? "\r\n" : "\n");
