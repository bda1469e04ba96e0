import type { JsonValue } from "../../base/model/json/json.ts";
import type { ColumnLabels, LabelledColumn, LabelPatterns } from "../../base/model/labels.ts";
import { type ClassificationSpec, locationIn, type Manifest } from "../../base/model/manifest.ts";
import { groupBy } from "../../base/model/maps.ts";
import type { Problem } from "../../base/model/problem.ts";
import { fold } from "../../base/text/suggest.ts";
import { isClassification, labelReferences, unknownLabels, wantedLabels } from "../../kinds/index.ts";
import { type ProjectPaths, type ReadSources, readSources } from "./sources.ts";

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

/** Labels that differ from one that manifests match by only in case, at the first place that gives them. */
function nearLabels(manifests: readonly Manifest[], given: readonly (LabelPatterns | LabelledColumn)[]): readonly Problem[] {
  const used = new Set(labelReferences(manifests).flatMap(({ label }) => wantedLabels(label) ?? []));
  const first = new Map([...given].reverse().map(({ label, origin }) => [label, origin]));
  const byFold = groupBy([...used, ...first.keys()], fold);
  return [...first].flatMap(([label, { text, place }]): readonly Problem[] => {
    const others = new Set((byFold.get(fold(label)) ?? []).filter((other) => other !== label && (used.has(other) || !used.has(label))));
    const [other] = others;
    if (other === undefined || used.has(label)) return [];
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
