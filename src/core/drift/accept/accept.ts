import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import { type Address, kindOf, parseAddress } from "../../base/model/address.ts";
import { DimsyncError, ProblemsError } from "../../base/model/errors.ts";
import { emptyRecord, type JsonObject, type JsonScalar, type JsonValue } from "../../base/model/json/json.ts";
import { type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import { freeName, groupBy } from "../../base/model/maps.ts";
import type { Plan } from "../../base/model/plan.ts";
import { isError, type Problem } from "../../base/model/problem.ts";
import { eolOf } from "../../base/text/file-text.ts";
import { documentRanges } from "../../base/yaml/document-ranges.ts";
import { type Edit, editYaml } from "../../base/yaml/edit.ts";
import { blockLines, escapeReferences } from "../../base/yaml/print.ts";
import { kindNames, schemaConfigAddress } from "../../kinds/index.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../manifests/index.ts";
import { writeAtomic } from "../../records/index.ts";
import { type DifferenceEdits, type PlannedEdit, type ProjectManifests, planEdits, type ReportedDifference } from "./plan-edits.ts";

interface FileEdit {
  /** As shown. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  /** Whole texts, byte order mark included. */
  readonly before: string;
  readonly after: string;
  /** Unified. */
  readonly diff: string;
  readonly values: readonly AcceptedValue[];
}

/** A value that a manifest gets. */
interface AcceptedValue {
  /** The manifest; for a new one, what it configures. */
  readonly address: Address;
  readonly path: Pointer;
  readonly value: JsonScalar;
  readonly isInNew: boolean;
}

/**
 * A difference that cannot be accepted by an edit. `why` says the reason and what to do instead, in
 * sentences.
 */
interface Unaccepted {
  readonly address: Address;
  readonly path: Pointer;
  readonly why: string;
}

interface Accepted {
  /** By file, in the order of the report. Nothing is written yet. */
  readonly edits: readonly FileEdit[];
  /** The differences that the edits accept. */
  readonly accepted: readonly ReportedDifference[];
  readonly unaccepted: readonly Unaccepted[];
}

/** An edit of a file, and the difference that it accepts. */
interface InFile {
  readonly difference: DifferenceEdits;
  readonly edit: Exclude<PlannedEdit, { readonly how: "refused" }>;
}

/** Why differences cannot be accepted. */
type Reasons = Map<DifferenceEdits, string>;

/**
 * The edits that make the manifests match the account as the report saw it: literals are changed in
 * place, a literal overrides a rule that decided, and an integration of a manifest that covers
 * several gets a configuration of its own. All other bytes stay. Shown file names are relative to
 * `cwd`. Throws E_PROBLEMS if the manifests have errors, and what Node's calls throw.
 */
export async function acceptDrift(
  report: Plan,
  project: ProjectManifests & { readonly problems: readonly Problem[] },
  cwd: string,
): Promise<Accepted> {
  if (project.problems.some(isError))
    throw new DimsyncError("E_PROBLEMS", "The manifests have errors, so they cannot be edited. Fix the errors first.", {
      command: "dimsync validate",
    });
  const differences = planEdits(report, project);
  const reasons: Reasons = new Map();
  const inFiles = differences.flatMap((difference) =>
    difference.edits.flatMap((edit): readonly InFile[] => {
      if (edit.how !== "refused") return [{ difference, edit }];
      reasons.set(difference, edit.why);
      return [];
    }),
  );
  const names = new Set(project.manifests.map(({ address }) => address));
  const target = report.severalTargets === true ? report.target : undefined;
  const edits: FileEdit[] = [];
  for (const [file, changes] of groupBy(inFiles, ({ edit }) => (edit.how === "value" ? edit.manifest : edit.home).place.file)) {
    const path = resolve(cwd, file);
    const before = await readFile(path, "utf8");
    const mark = before.startsWith("\ufeff") ? "\ufeff" : "";
    const withValues = editValues(before.slice(mark.length), changes, { file, reasons });
    const after = mark + addOverrides(withValues, changes, { file, reasons, names, target });
    if (after !== before) edits.push({ file, path, before, after, diff: diffOf(file, before, after), values: valuesOf(changes, reasons) });
  }
  return {
    edits,
    accepted: differences.filter((one) => !reasons.has(one)).map(({ edits: _, ...difference }) => difference),
    unaccepted: differences.flatMap((one) => {
      const why = reasons.get(one);
      return why === undefined ? [] : [{ address: one.address, path: one.path, why }];
    }),
  };
}

/** What edits set, without those that have a reason not to. */
const valuesOf = (changes: readonly InFile[], reasons: Reasons): readonly AcceptedValue[] =>
  changes
    .filter(({ difference }) => !reasons.has(difference))
    .map(({ edit }) => {
      const isInNew = edit.how === "override";
      const { address } = isInNew ? edit.item : edit.manifest;
      return { address, path: toPointer(edit.path.slice(1)), value: edit.value, isInNew };
    });

function editValues(
  text: string,
  changes: readonly InFile[],
  { file, reasons }: { readonly file: string; readonly reasons: Reasons },
): string {
  const values = changes.flatMap(({ difference, edit }) => (edit.how === "value" ? [{ difference, edit }] : []));
  let edited = text;
  for (const [document, ofDocument] of groupBy(values, ({ edit }) => edit.manifest.place.document)) {
    const edits = ofDocument.map(({ edit: { path, value } }): Edit => ({ path, value }));
    const result = editYaml(edited, document, edits);
    edited = result.text;
    for (const { edit, why } of result.refused) {
      const refused = ofDocument[edits.indexOf(edit)];
      if (refused !== undefined) reasons.set(refused.difference, `${edit.path.join(".")} in ${file} was not edited: ${why}.`);
    }
  }
  return edited;
}

function addOverrides(
  text: string,
  changes: readonly InFile[],
  { file, reasons, names, target }: { readonly file: string; readonly reasons: Reasons } & Naming,
): string {
  const overrides = changes.flatMap(({ difference, edit }) => (edit.how === "override" ? [{ difference, edit }] : []));
  let edited = text;
  for (const ofObject of groupBy(overrides, ({ edit }) => edit.item.address).values()) {
    const longer = withOverride(
      edited,
      ofObject.map(({ edit }) => edit),
      { names, target },
    );
    if (longer === undefined) for (const { difference } of ofObject) reasons.set(difference, `No document can be added to ${file}.`);
    else edited = longer;
  }
  return edited;
}

/**
 * Writes the edits, each file at once. Throws E_FILE_CHANGED before the first write if a file has
 * changed since it was read.
 */
export async function writeEdits(edits: readonly FileEdit[]): Promise<void> {
  for (const { path, before, file } of edits)
    if ((await readFile(path, "utf8").catch(() => undefined)) !== before)
      throw new DimsyncError("E_FILE_CHANGED", `${file} has changed since it was read, so nothing was written. Run the command again.`);
  for (const { path, after } of edits) await writeAtomic(path, after);
}

function diffOf(file: string, before: string, after: string): string {
  // If this takes too long, a note replaces the diff.
  const patch: string | undefined = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, "", "", { context: 3, timeout: 10_000 });
  return patch ?? `--- a/${file}\n+++ b/${file}\n(the diff is too large to show)\n`;
}

type Override = Extract<PlannedEdit, { readonly how: "override" }>;

interface Naming {
  /** The addresses in use; a new one is added. */
  readonly names: Set<Address>;
  /** The target whose account differs, if the project has others: theirs may not. */
  readonly target: string | undefined;
}

/**
 * The text with one more SchemaConfig at its end, of higher priority, for one of the many
 * integrations that the manifest covers; undefined if the text cannot take another document.
 */
function withOverride(text: string, overrides: readonly Override[], { names, target }: Naming): string | undefined {
  const [first] = overrides;
  if (first === undefined) return undefined;
  const { covering, top, item } = first;
  const eol = eolOf(text);
  const manifest = item.manifests?.find((address) => kindOf(address) === kindNames.integration);
  const integration = parseAddress(manifest ?? item.address)?.name ?? "";
  const slug = [covering.name, integration, ...(target === undefined ? [] : [target])]
    .join("-")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/gu, "-");
  const name = freeName(slug, (one) => names.has(schemaConfigAddress(one)));
  names.add(schemaConfigAddress(name));
  const document = {
    apiVersion: "dimsync/v1",
    kind: kindNames.schemaConfig,
    metadata: { name, ...(target === undefined ? {} : { targets: [target] }) },
    spec: {
      integration: manifest === undefined ? { id: item.liveId ?? integration } : integration,
      priority: (top.spec.priority ?? 0) + 1,
      ...treeOf(overrides),
    },
  };
  const lines = [
    "---",
    `# Accepted from the account${target === undefined ? "" : ` of ${target}`}: differs from ${covering.address}.`,
    ...blockLines(escapeReferences(document)),
    "",
  ];
  const joined = `${text}${text === "" || text.endsWith("\n") ? "" : eol}${lines.join(eol)}`;
  return documentRanges(joined).length === documentRanges(text).length + 1 ? joined : undefined;
}

/** The values below `spec`, with which every path begins. */
function treeOf(values: readonly { readonly path: readonly string[]; readonly value: JsonScalar }[]): JsonObject {
  const root = emptyRecord<JsonValue>();
  for (const { path, value } of values) {
    let branch = root;
    for (const key of path.slice(1, -1)) {
      // All inner values of the tree are records that this function made.
      const known = (branch[key] as Record<string, JsonValue> | undefined) ?? emptyRecord<JsonValue>();
      branch[key] = known;
      branch = known;
    }
    branch[path.at(-1) ?? ""] = value;
  }
  return root;
}

/** An edited file that other targets read, too. */
export interface SharedEdit extends Pick<FileEdit, "file" | "values"> {
  /** Also those that could not be loaded. */
  readonly targets: readonly string[];
}

interface AcceptOptions {
  readonly load: LoadOptions;
  /** Called before the first write, if other targets read an edited file. */
  readonly onShared: (shared: readonly SharedEdit[]) => void;
}

/** Edits the manifests so that they match the account as the report saw it. Throws like `acceptDrift` and `writeEdits`. */
export async function acceptInFiles(
  project: Project,
  report: Plan,
  { load, onShared }: AcceptOptions,
): Promise<Accepted & { readonly shared: readonly SharedEdit[] }> {
  const accepted = await acceptDrift(report, project, load.cwd);
  const shared = await sharedEdits(project, accepted.edits, load);
  if (shared.length > 0) onShared(shared);
  await writeEdits(accepted.edits);
  return { ...accepted, shared };
}

/** The edits that change what other targets want. Reads no account. */
async function sharedEdits({ settings }: Project, edits: readonly FileEdit[], load: LoadOptions): Promise<readonly SharedEdit[]> {
  if (edits.length === 0) return [];
  const others = (await listTargets(load)).filter((target) => target !== settings.target);
  const readers = await Promise.all(others.map(async (target) => ({ target, files: await filesOf(target, load) })));
  return edits.flatMap(({ file, path, values: all }): readonly SharedEdit[] => {
    // A new SchemaConfig is for the target alone.
    const values = all.filter(({ isInNew }) => !isInNew);
    const targets = readers.filter(({ files }) => files?.has(path) !== false).map(({ target }) => target);
    return targets.length === 0 || values.length === 0 ? [] : [{ file, values, targets }];
  });
}

/** The files that a target reads; undefined if it cannot be loaded. */
async function filesOf(target: string, load: LoadOptions): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await loadProject({ ...load, target, needsAccount: false })).sourceFiles.files);
  } catch (error) {
    if (error instanceof ProblemsError) return undefined;
    throw error;
  }
}
