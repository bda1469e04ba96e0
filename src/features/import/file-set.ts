import type { JsonValue } from "../../core/model/json/json.ts";
import type { SourceLocation } from "../../core/model/problem.ts";
import { eolOf } from "../../core/text/lines.ts";
import { editYaml } from "../../core/yaml/edit.ts";
import type { DocumentText } from "./document-text.ts";

/** The files that an import changes, in memory. Paths are absolute. */
interface FileSet {
  /** Appends documents to a file, or creates one that begins with `header`. */
  append(path: string, documents: readonly DocumentText[], header: string): void;
  /** Sets a member of the metadata of a document. Returns false if the form of the file does not allow it. */
  setMetadata(path: string, place: SourceLocation, member: readonly [key: string, value: JsonValue]): boolean;
  /** The changes since the last call, by path. Forgets the texts. */
  take(): readonly FileChange[];
}

export interface FileChange {
  readonly path: string;
  /** Undefined: the file is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** Whether only metadata.targets and metadata.id changed. */
  readonly isMetadata: boolean;
}

interface OpenFile {
  readonly before: string | undefined;
  text: string;
  isMetadata: boolean;
}

/** `read` returns the text of a file, or undefined if it does not exist. */
export function createFileSet(read: (path: string) => string | undefined): FileSet {
  const files = new Map<string, OpenFile>();
  const open = (path: string): OpenFile => {
    const known = files.get(path);
    if (known !== undefined) return known;
    const before = read(path);
    const file = { before, text: before ?? "", isMetadata: true };
    files.set(path, file);
    return file;
  };
  return {
    append(path, documents, header) {
      const file = open(path);
      file.isMetadata = false;
      for (const { text } of documents) file.text = withDocument(file.text, text, header);
    },
    setMetadata(path, { document }, [key, value]) {
      const file = open(path);
      const { text, refused } = editYaml(file.text, document, [{ path: ["metadata", key], value }]);
      file.text = text;
      return refused.length === 0;
    },
    take() {
      const changes = [...files].flatMap(([path, { before, text, isMetadata }]) =>
        text === (before ?? "") ? [] : [{ path, before, after: text, isMetadata }],
      );
      files.clear();
      return changes;
    },
  };
}

function withDocument(file: string, document: string, header: string): string {
  if (!/\S/u.test(file)) return (file || header) + withEol(file, document);
  // Editors apply the line that names the schema to one document only.
  const [schema = ""] = /^# yaml-language-server:.*\n/mu.exec(file) ?? [];
  return file + withEol(file, `${file.endsWith("\n") ? "" : "\n"}---\n${schema}${document}`);
}

/** The text with the file's line breaks. */
const withEol = (file: string, text: string): string => (eolOf(file) === "\r\n" ? text.replaceAll(/\r?\n/gu, "\r\n") : text);
