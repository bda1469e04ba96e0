import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Address, toAddress } from "../../core/base/model/address.ts";
import { defined, type JsonObject, type JsonValue } from "../../core/base/model/json/json.ts";
import type { Manifest, SchemaConfigSpec } from "../../core/base/model/manifest.ts";
import type { SourceLocation } from "../../core/base/model/problem.ts";
import { eolOf } from "../../core/base/text/file-text.ts";
import { editYaml } from "../../core/base/yaml/edit.ts";
import { blockLines, escapeReferences } from "../../core/base/yaml/print.ts";
import { integrationAddress, kindNames } from "../../core/kinds/index.ts";
import { type Boundary, type Project, refuseOutside } from "../../core/manifests/index.ts";
import { writeAtomic } from "../../core/records/index.ts";
import type { NewFiles } from "./folder.ts";
import type { ImportFailure } from "./other-targets.ts";

interface WriterOptions {
  /** Absolute: the manifests' locations are relative to it. */
  readonly cwd: string;
  readonly boundary: Boundary;
  readonly newFiles: NewFiles;
  readonly dryRun: boolean;
  /** Called for each file when it is written, or would be. */
  readonly onFile: (change: FileChange) => void;
}

/** Edits and new documents, collected per file and written with `flush`. */
export interface Writer {
  /** Sets a member of `metadata`. Undefined if the file is edited as asked. */
  readonly setMetadata: (manifest: Manifest, member: "targets" | "id", value: JsonValue) => ImportFailure | undefined;
  /** Adds documents to a file in the folder for new files: "tags.yaml". */
  readonly add: (file: string, documents: readonly DocumentText[]) => void;
  /** Adds documents to the file of the integration's manifest, or to one in the folder for new files. */
  readonly addToIntegration: (name: string, documents: readonly DocumentText[]) => void;
  /** Writes what was collected since the last call. In a dry run, nothing is written before `end`, which only reports. */
  readonly flush: () => Promise<void>;
  readonly end: () => void;
}

export function createWriter(project: Project, { cwd, boundary, newFiles, dryRun, onFile }: WriterOptions): Writer {
  const files = createFileSet((path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined));
  const manifestAt = new Map<Address, Manifest>(project.manifests.map((manifest) => [manifest.address, manifest]));
  const add = (file: string, documents: readonly DocumentText[]): void => {
    if (documents.length === 0) return;
    const path = resolve(newFiles.folder, file);
    files.append(path, documents, header(project, path));
  };
  return {
    setMetadata({ address, place, name }, member, value) {
      if (files.setMetadata(resolve(cwd, place.file), place, [member, value])) return undefined;
      const message = `Import cannot set metadata.${member} in ${place.file}. Write it by hand: metadata: { name: ${name}, ${member}: ${JSON.stringify(value)} }.`;
      return { address, message };
    },
    add,
    addToIntegration(name, documents) {
      const known = manifestAt.get(integrationAddress(name));
      const file = known === undefined ? undefined : resolve(cwd, known.place.file);
      const isThere = file !== undefined && (newFiles.isShared || !relative(newFiles.folder, file).startsWith(".."));
      add(isThere ? file : join("integrations", `${name}.yaml`), documents);
    },
    async flush() {
      if (dryRun) return;
      const changes = files.take();
      for (const { path } of changes) refuseOutside(boundary, path);
      for (const change of changes) {
        await mkdir(dirname(change.path), { recursive: true });
        await writeAtomic(change.path, change.after);
        onFile(change);
      }
    },
    end() {
      for (const change of files.take()) {
        refuseOutside(boundary, change.path);
        onFile(change);
      }
    },
  };
}

/** Tells editors where the schema is, if `dimsync init` has created it. */
function header({ settings }: Project, path: string): string {
  const schema = join(settings.folder, "schema", "manifest.schema.json");
  if (!existsSync(schema)) return "";
  return `# yaml-language-server: $schema=${relative(dirname(path), schema).split(sep).join("/")}\n`;
}

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

/** A manifest that import writes, without the `---` line before it. */
export interface DocumentText {
  readonly address: string;
  readonly text: string;
}

interface DocumentOptions {
  /** The only targets that have it; absent: all that load its file. */
  readonly targets: readonly string[] | undefined;
  /** Lines of comments. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** `body` is the manifest without its head. */
export function documentText(
  kind: string,
  name: string,
  body: JsonObject,
  { targets, before = [], after = [] }: DocumentOptions,
): DocumentText {
  const { spec = {}, ...rest } = escapeReferences(body) as JsonObject; // a map stays a map
  const head = blockLines({ apiVersion: "dimsync/v1", kind, metadata: { name, ...defined({ targets }) }, ...rest });
  const lines = [...before, ...head, "spec:", ...blockLines(spec, { column: 2, step: 2 }), ...after];
  return { address: toAddress(kind, name), text: `${lines.join("\n")}\n` };
}

export function schemaConfigText(name: string, spec: SchemaConfigSpec, { targets }: Pick<DocumentOptions, "targets">): DocumentText {
  const before =
    spec.rules === undefined
      ? []
      : [
          "# The rules live-… record the state at the import. Names that no rule lists are not managed.",
          "# Add your own rules below: later rules win.",
        ];
  // A spec is JSON, which its type does not state.
  return documentText(kindNames.schemaConfig, name, { spec: spec as unknown as JsonObject }, { targets, before });
}
