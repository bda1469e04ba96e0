import type { JsonValue } from "../model/json.ts";
import type { SourceLocation } from "../model/problem.ts";
import { type Edit, valueEdits } from "../yaml/diff.ts";
import { documentRanges, type Range } from "../yaml/document-ranges.ts";
import { editYaml } from "../yaml/edit.ts";
import { inlineYaml } from "../yaml/print.ts";
import { type DocumentText, untypedComment } from "./document-text.ts";

/** Texts of files that an import changes, in memory. Paths are absolute. */
export interface FileSet {
  /** Puts documents at the end of a file, or into a new one that begins with `header`. */
  append(path: string, documents: readonly DocumentText[], header: string): void;
  /** Makes the spec of the document at the place another one. False where its form doesn't let that be written. */
  change(path: string, place: SourceLocation, before: unknown, after: unknown): boolean;
  /** Adds the ids to the document's comments where it doesn't mention them. */
  mention(path: string, place: SourceLocation, ids: readonly string[]): void;
  /** What has changed since the last call, by path; the texts are then let go. */
  take(): readonly FileChange[];
}

export interface FileChange {
  readonly path: string;
  /** Undefined: the file is new. */
  readonly before: string | undefined;
  readonly after: string;
}

export function createFileSet(read: (path: string) => string | undefined): FileSet {
  const files = new Map<string, { readonly before: string | undefined; text: string }>();
  const open = (path: string): { readonly before: string | undefined; text: string } => {
    const known = files.get(path);
    if (known !== undefined) return known;
    const before = read(path);
    const file = { before, text: before ?? "" };
    files.set(path, file);
    return file;
  };
  let looked: { readonly text: string; readonly ranges: readonly Range[] } | undefined;
  const rangeOf = (text: string, document: number): Range => {
    if (looked?.text !== text) looked = { text, ranges: documentRanges(text) };
    return looked.ranges[document] ?? [0, text.length];
  };
  return {
    append(path, documents, header) {
      const file = open(path);
      for (const { text } of documents) {
        const isEmpty = file.text.trim() === "";
        const before = isEmpty ? file.text || header : file.text;
        const line = isEmpty ? "" : `${file.text.endsWith("\n") ? "" : "\n"}---\n`;
        file.text = before + likeIn(before, line + text);
      }
    },
    change(path, place, before, after) {
      const file = open(path);
      // Specs are JSON; their types only don't say so.
      const edits: readonly Edit[] = valueEdits(before as JsonValue, after as JsonValue, ["spec"]);
      // Alone: a file of many documents would be read again as a whole for each that changes.
      const [start, end] = rangeOf(file.text, place.document);
      const edited = editYaml(file.text.slice(start, end), 0, edits);
      if (typeof edited !== "string") return false;
      file.text = file.text.slice(0, start) + edited + file.text.slice(end);
      return true;
    },
    mention(path, place, ids) {
      const file = open(path);
      const [start, end] = rangeOf(file.text, place.document);
      const unmentioned = ids.filter((id) => !file.text.slice(start, end).includes(`id: ${inlineYaml(id)} }`));
      if (unmentioned.length === 0) return;
      const head = file.text.slice(0, end);
      const comment = `${head === "" || head.endsWith("\n") ? "" : "\n"}${untypedComment(unmentioned).join("\n")}\n`;
      file.text = head + likeIn(file.text, comment) + file.text.slice(end);
    },
    take() {
      const changes = [...files].flatMap(([path, { before, text }]) => (text === (before ?? "") ? [] : [{ path, before, after: text }]));
      files.clear();
      return changes;
    },
  };
}

/** The text with line breaks as the file has them. */
const likeIn = (file: string, text: string): string => (file.includes("\r\n") ? text.replaceAll(/\r?\n/gu, "\r\n") : text);
