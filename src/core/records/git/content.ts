import type { Content } from "../shared/store.ts";
import { headLine, linesBySection, parseRecords, type TextHead } from "../text.ts";
import type { Files } from "./tree.ts";

// The text of the records (text.ts) in the files of a commit: `format` has its first line, and each section that has lines is a
// file. One with many lines is a folder of files, and a line is in the file that its key chooses. So a write stores little more
// than what it changes, and `git log -p` shows that.
//   seal                HMAC over the parent and the other entries (tree.ts)

const linesPerFile = 64;
const mostFiles = 256;

export function filesOf(head: TextHead, content: Content): Files {
  const files = new Map([["format", `${headLine(head)}\n`]]);
  for (const { name, isKeyed, lines } of linesBySection(content)) {
    const count = isKeyed ? fileCount(lines.length) : 1;
    for (const { key, text } of lines) {
      const path = count === 1 ? name : `${name}/${String(hashOf(key) % count).padStart(3, "0")}`;
      files.set(path, `${files.get(path) ?? ""}${text}\n`);
    }
  }
  return files;
}

/** A power of two, so that it seldom changes: then all lines move. */
const fileCount = (lines: number): number => Math.min(mostFiles, 2 ** Math.ceil(Math.log2(Math.max(1, lines / linesPerFile))));

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Reads the files of a commit. Throws ContentError. */
export function contentOf(files: Files): ReturnType<typeof parseRecords> {
  const sections = [...files].filter(([path]) => path !== "format" && path !== "seal");
  const all = [["format", files.get("format") ?? "\n"] as const, ...sections].map(([path, text]) => ({ path, text: withBreak(text) }));
  return parseRecords(all.map(({ text }) => text).join(""), (number) => {
    let line = number;
    for (const { path, text } of all) {
      const count = text.split("\n").length - 1;
      if (line <= count) return `${path}:${line}`;
      line -= count;
    }
    return `line ${number}`;
  });
}

const withBreak = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
