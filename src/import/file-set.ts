import type { JsonValue } from "../model/json.ts";
import type { Place } from "../model/problem.ts";
import { type DocumentText, untypedComment } from "./document-text.ts";
import { editYaml } from "./edit-yaml.ts";
import { inlineYaml } from "./print-yaml.ts";
import { type Edit, valueEdits } from "./value-edits.ts";

/** Texts of files that an import changes, in memory. Paths are absolute. */
export interface FileSet {
  /** Puts documents at the end of a file, or into a new one that begins with `header`. */
  append(path: string, documents: readonly DocumentText[], header: string): void;
  /** Makes the spec of the document at the place another one. False where its form doesn't let that be written. */
  change(path: string, place: Place, before: unknown, after: unknown): boolean;
  /** Adds the ids to the document's comments where it doesn't mention them. */
  mention(path: string, place: Place, ids: readonly string[]): void;
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
  return {
    append(path, documents, header) {
      const file = open(path);
      for (const { text } of documents) {
        const isEmpty = file.text.trim() === "";
        const start = isEmpty ? file.text || header : `${file.text}${file.text.endsWith("\n") ? "" : "\n"}---\n`;
        file.text = start + text;
      }
    },
    change(path, place, before, after) {
      const file = open(path);
      // Specs are JSON; their types only don't say so.
      const edits: readonly Edit[] = valueEdits(before as JsonValue, after as JsonValue, ["spec"]);
      const edited = editYaml(file.text, place.document, edits);
      if (typeof edited !== "string") return false;
      file.text = edited;
      return true;
    },
    mention(path, place, ids) {
      const file = open(path);
      const [start, end] = documentRange(file.text, place.document);
      const unmentioned = ids.filter((id) => !file.text.slice(start, end).includes(`id: ${inlineYaml(id)} }`));
      if (unmentioned.length === 0) return;
      const head = file.text.slice(0, end);
      file.text = `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${untypedComment(unmentioned).join("\n")}\n${file.text.slice(end)}`;
    },
    take() {
      const changes = [...files].flatMap(([path, { before, text }]) => (text === (before ?? "") ? [] : [{ path, before, after: text }]));
      files.clear();
      return changes;
    },
  };
}

/** Offsets of the text of one document: between the lines of dashes around it. */
function documentRange(text: string, index: number): readonly [start: number, end: number] {
  const breaks = [...text.matchAll(/^---(?:[ \t].*)?\r?$/gmu)].map((found) => found.index);
  // A line of dashes before the first document begins it; it separates nothing.
  const separators = breaks.filter(
    (at) =>
      text
        .slice(0, at)
        .replaceAll(/^\s*(?:#.*)?$/gmu, "")
        .trim() !== "",
  );
  return [index === 0 ? 0 : (separators[index - 1] ?? 0), separators[index] ?? text.length];
}
