import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ColumnLabels, LabelledColumn, LabelPatterns } from "../../base/model/columns.ts";
import { errorCode } from "../../base/model/errors.ts";
import type { JsonValue } from "../../base/model/json/json.ts";
import {
  type ClassificationSpec,
  type CsvSource,
  type DbtSource,
  type LabelSource,
  locationIn,
  type Manifest,
} from "../../base/model/manifest.ts";
import { groupBy } from "../../base/model/maps.ts";
import type { Problem, SourceLocation } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { decodeFile } from "../../base/text/file-text.ts";
import { andMore } from "../../base/text/lists.ts";
import { fold } from "../../base/text/suggest.ts";
import { isClassification, labelReferences, unknownLabels, wantedLabels } from "../../kinds/index.ts";

export interface LoadedLabels {
  /** Absent if the project has no Classification. */
  readonly labels?: ColumnLabels;
  /** Absolute paths of the dbt manifests that Classifications name. */
  readonly dbtFiles: readonly string[];
  readonly problems: readonly Problem[];
  /** Everything that files label, for the digest of the manifests: a new file with the same labels changes nothing. */
  readonly digested: readonly JsonValue[];
  /** Absolute paths of the files that were read and that belong to the project. */
  readonly files: readonly string[];
}

/** Reads the files that the Classifications name, and checks that every label that a manifest matches is defined. */
export async function loadLabels(manifests: readonly Manifest[], paths: ProjectPaths): Promise<LoadedLabels> {
  const classifications = manifests.filter(isClassification);
  const sources: ReadSources[] = [];
  for (const one of classifications) sources.push(await readSources(one, paths));
  const columns = sources.flatMap((one) => one.columns);
  const patterns = classifications.flatMap(patternsOf);
  const defined = [
    ...new Set([...patterns.map(({ label }) => label), ...columns.map(({ label }) => label), ...classifications.flatMap(namedLabels)]),
  ].sort();
  const problems = sources.flatMap((one) => one.problems);
  // A file that cannot be read may define the label.
  const isComplete = problems.every(({ severity }) => severity !== "error");
  return {
    ...(classifications.length === 0 ? {} : { labels: { defined, patterns, columns } }),
    dbtFiles: [...new Set(sources.flatMap((one) => one.dbtFiles))],
    problems: [...problems, ...(isComplete ? unknownLabels(manifests, defined) : []), ...nearLabels(manifests, [...patterns, ...columns])],
    digested: columns.length === 0 ? [] : [columns.map(digestedColumn)],
    files: sources.flatMap((one) => one.files),
  };
}

/** Labels that differ from one that manifests match by only in case, or that contain it as a word, at the first place that gives them. */
function nearLabels(manifests: readonly Manifest[], given: readonly (LabelPatterns | LabelledColumn)[]): readonly Problem[] {
  const used = new Set(labelReferences(manifests).flatMap(({ label }) => wantedLabels(label) ?? []));
  const first = new Map([...given].reverse().map(({ label, origin }) => [label, origin]));
  const byFold = groupBy([...used, ...first.keys()], fold);
  return [...first].flatMap(([label, { text, place }]): readonly Problem[] => {
    const others = new Set((byFold.get(fold(label)) ?? []).filter((other) => other !== label && (used.has(other) || !used.has(label))));
    if (used.has(label)) return [];
    const [other] = others;
    if (other === undefined) {
      const words = new Set(label.split(/[^\p{L}\p{N}_-]+/u).map(fold));
      const contained = [...used].find((one) => words.has(fold(one)));
      if (contained === undefined) return [];
      const message = `The label ${JSON.stringify(label)} (${text}) contains ${JSON.stringify(contained)} and is another label, so what matches ${JSON.stringify(contained)} does not match its columns. Write ${JSON.stringify(contained)}; several labels are separated by ; or |.`;
      return [{ code: "W_NO_MATCH", severity: "warning", message, place }];
    }
    const message = `The label ${JSON.stringify(label)} (${text}) differs from ${JSON.stringify(other)} only in case or white space. They are two labels, so what matches ${JSON.stringify(other)} does not match its columns. Write one of them everywhere.`;
    return [{ code: "W_NO_MATCH", severity: "warning", message, place }];
  });
}

const digestedColumn = ({ side, integration, schema, table, column, label, except }: LabelledColumn): JsonValue => [
  side,
  integration ?? null,
  schema,
  table,
  column ?? null,
  label,
  ...(except === undefined ? [] : [except]),
];

const patternsOf = (manifest: Manifest<ClassificationSpec>): readonly LabelPatterns[] =>
  (manifest.spec.labels ?? []).map(({ label, match, reason }, index) => ({
    label,
    match,
    origin: {
      text: manifest.address,
      ...(reason === undefined ? {} : { reason }),
      place: locationIn(manifest, `/spec/labels/${index}`),
      isInManifest: true,
    },
  }));

/** Labels that are defined even if no column has them. */
const namedLabels = ({ spec }: Manifest<ClassificationSpec>): readonly string[] => (spec.from ?? []).flatMap(({ dbt }) => dbt?.label ?? []);

/** Where the files of a project are. */
interface ProjectPaths {
  /** Absolute paths of the folders to which paths in a Classification are relative; the first that has the file counts. */
  readonly folders: readonly string[];
  /** How an absolute path is shown. */
  readonly shown: (path: string) => string;
  /** Why the project must not name an absolute path, in sentences; undefined if it may. */
  readonly refusalOf: (path: string) => string | undefined;
  /** Gets each text in which labels have lines of their own: at a base, its file is gone when someone asks for them. */
  readonly onText: (source: { readonly path: string; readonly file: string; readonly text: string }) => void;
}

/** The folder of the dbt project whose YAML files decide what its manifest says. `manifest`: an absolute path. */
export function dbtFolder(manifest: string): string {
  for (let folder = dirname(manifest); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "dbt_project.yml"))) return folder;
  return dirname(dirname(manifest));
}

/** What the files of one Classification say. */
interface ReadSources {
  readonly columns: readonly LabelledColumn[];
  readonly problems: readonly Problem[];
  /** Absolute paths of the dbt manifests. */
  readonly dbtFiles: readonly string[];
  /** Absolute paths of the files that belong to the project. Manifests of dbt do not: dbt writes them, and git ignores them. */
  readonly files: readonly string[];
}

/** Reads the files that a Classification names. Errors in them are returned as problems; never throws. */
async function readSources(manifest: Manifest<ClassificationSpec>, paths: ProjectPaths): Promise<ReadSources> {
  const read: ReadSources[] = [];
  // One after the other: a dbt manifest can have 100 MB.
  for (const [index, source] of (manifest.spec.from ?? []).entries())
    read.push(await readLabels(source, locationIn(manifest, `/spec/from/${index}`), paths));
  return {
    columns: read.flatMap((one) => one.columns),
    problems: read.flatMap((one) => one.problems).map((problem) => ({ ...problem, address: manifest.address })),
    dbtFiles: read.flatMap((one) => one.dbtFiles),
    files: read.flatMap((one) => one.files),
  };
}

const readLabels = ({ dbt, csv }: LabelSource, place: SourceLocation, paths: ProjectPaths): Promise<ReadSources> =>
  dbt === undefined ? readCsv(csv, place, paths) : readDbt(dbt, place, paths);

async function readDbt(source: DbtSource, place: SourceLocation, paths: ProjectPaths): Promise<ReadSources> {
  const { path, file, ...read } = await readText(source.manifest, paths);
  if ("outside" in read) return outside(read.outside, { ...place, pointer: `${place.pointer}/dbt/manifest` });
  const refused = (refusal: string): ReadSources => ({
    columns: [],
    problems: [
      {
        code: "E_DBT_MANIFEST",
        severity: "error",
        message: `${file} ${refusal}. Without it, the labels of its columns are unknown. Run this in the dbt project:`,
        place: { ...place, pointer: `${place.pointer}/dbt/manifest` },
        command: "dbt parse",
      },
    ],
    dbtFiles: [],
    files: [],
  });
  if ("refusal" in read) return refused(read.refusal);
  const labels = (await import("./dbt.ts")).readDbtLabels({ text: read.text, file, place }, source);
  if ("refusal" in labels) return refused(labels.refusal);
  const { columns, nearly } = labels;
  const near = nearly.length === 0 ? [] : [nearlyEqual(nearly, source, { file, place })];
  const problems = columns.length + near.length > 0 ? near : [selectsNothing(source, file, place)];
  return { columns, problems, dbtFiles: [path], files: [] };
}

/** Marks in another form are never guessed: the message says what they are. */
function nearlyEqual(
  marks: readonly string[],
  { where, labelFrom = "" }: DbtSource,
  { file, place }: { readonly file: string; readonly place: SourceLocation },
): Problem {
  const wanted = [
    ...Object.entries(where?.meta ?? {}).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    ...(where?.tag === undefined ? [] : [`the tag ${JSON.stringify(where.tag)}`]),
    ...(where === undefined ? [`text at ${labelFrom}`] : []),
  ];
  return {
    code: "W_NO_MATCH",
    severity: "warning",
    message: `In ${file}, ${counted(marks.length, "mark")} ${marks.length === 1 ? "is" : "are"} nearly what the entry looks for, and ${marks.length === 1 ? "gives" : "give"} no label: ${andMore(marks, "mark", { shown: 8 })}. dimsync looks for ${wanted.join(" and ")}. Correct ${marks.length === 1 ? "it" : "them"} in dbt, or add an entry to the Classification that looks for ${marks.length === 1 ? "it" : "them"}.`,
    place: { ...place, pointer: `${place.pointer}/dbt/${where === undefined ? "labelFrom" : "where"}` },
  };
}

const selectsNothing = ({ where }: DbtSource, file: string, place: SourceLocation): Problem => ({
  code: "W_NO_MATCH",
  severity: "warning",
  message: `No column of a source in ${file} has ${where === undefined ? "this member of meta" : "what where requires"}. The mark can be at the source table, or at a column that is listed there. Correct the entry, or remove it.`,
  place: { ...place, pointer: `${place.pointer}/dbt/${where === undefined ? "labelFrom" : "where"}` },
});

async function readCsv({ file: written, columns }: CsvSource, place: SourceLocation, paths: ProjectPaths): Promise<ReadSources> {
  const { path, file, ...read } = await readText(written, paths);
  if ("outside" in read) return outside(read.outside, { ...place, pointer: `${place.pointer}/csv/file` });
  if ("text" in read) {
    paths.onText({ path, file, text: read.text });
    return { ...(await import("./csv.ts")).readCsvLabels(read.text, file, columns), dbtFiles: [], files: [path] };
  }
  const problem: Problem = {
    code: "E_LABEL_CSV",
    severity: "error",
    message: `${file} ${read.refusal}. The path is relative to dimsync.yaml.`,
    place: { ...place, pointer: `${place.pointer}/csv/file` },
  };
  return { columns: [], problems: [problem], dbtFiles: [], files: [] };
}

const outside = (message: string, place: SourceLocation): ReadSources => ({
  columns: [],
  problems: [{ code: "E_PATH_OUTSIDE", severity: "error", message, place }],
  dbtFiles: [],
  files: [],
});

/** A file, the end of a sentence that begins with its name, or why it is not read. */
type ReadText = { readonly path: string; readonly file: string } & (
  | { readonly text: string }
  | { readonly refusal: string }
  | { readonly outside: string }
);

async function readText(written: string, { folders, shown, refusalOf }: ProjectPaths): Promise<ReadText> {
  const [first = "", ...others] = folders.map((folder) => resolve(folder, written));
  for (const path of [first, ...others]) {
    const refusal = refusalOf(path);
    if (refusal !== undefined) return { path, file: shown(path), outside: refusal };
    try {
      return { path, file: shown(path), ...decodeFile(await readFile(path)) };
    } catch (error) {
      const refusal = whyUnread(error);
      if (refusal !== missing) return { path, file: shown(path), refusal };
    }
  }
  return { path: first, file: shown(first), refusal: missing };
}

const missing = "does not exist";

function whyUnread(error: unknown): string {
  const code = errorCode(error);
  return code === "ENOENT" ? missing : `can't be read (${code})`;
}
