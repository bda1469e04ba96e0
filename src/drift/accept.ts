import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import type { Address } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import type { JsonScalar } from "../model/json/json.ts";
import { type Pointer, toPointer } from "../model/json/pointer.ts";
import { getOrAdd } from "../model/maps.ts";
import type { Plan } from "../model/plan.ts";
import { isError, type Problem } from "../model/problem.ts";
import type { Edit } from "../yaml/diff.ts";
import { editYaml } from "../yaml/edit/edit.ts";
import type { WriteFile } from "./history.ts";
import { type Override, withOverride } from "./overrides.ts";
import { type Difference, type DifferenceEdits, type ProjectManifests, planEdits } from "./plan-edits.ts";

export interface FileEdit {
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
export interface AcceptedValue {
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
export interface Unaccepted {
  readonly address: Address;
  readonly path: Pointer;
  readonly why: string;
}

export interface Accepted {
  /** By file, in the order of the report. Nothing is written yet. */
  readonly edits: readonly FileEdit[];
  /** The differences that the edits accept. */
  readonly accepted: readonly Difference[];
  readonly unaccepted: readonly Unaccepted[];
}

/** An edit or override, and the index of the difference that it accepts. */
interface Indexed<T> {
  readonly index: number;
  readonly value: T;
}

/**
 * What a file gets: values by document, and new configurations by the address that they override.
 */
interface InFile {
  readonly values: Map<number, Indexed<Edit>[]>;
  readonly overrides: Map<Address, Indexed<Override>[]>;
}

/** Reasons why differences cannot be accepted, by their index. */
type Reasons = Map<number, string>;

/**
 * The edits that make the manifests match the account as the report saw it: literals are changed in
 * place, a literal overrides a rule that decided, and an integration of a manifest that covers
 * several gets a configuration of its own. All other bytes stay. Shown file names are relative to
 * `cwd`. Throws E_ACCEPT_BROKEN if the manifests have errors, and what Node's calls throw.
 */
export async function acceptDrift(
  report: Plan,
  project: ProjectManifests & { readonly problems: readonly Problem[] },
  cwd: string,
): Promise<Accepted> {
  if (project.problems.some(isError))
    throw new DimsyncError("E_ACCEPT_BROKEN", "The manifests have errors, so they cannot be edited. Fix the errors first.", {
      command: "dimsync validate",
    });
  const differences = planEdits(report, project);
  const reasons: Reasons = new Map();
  const names = new Set(project.resources.map(({ address }) => address));
  const edits: FileEdit[] = [];
  for (const [file, changes] of byFile(differences, reasons)) {
    const path = resolve(cwd, file);
    const before = await readFile(path, "utf8");
    const mark = before.startsWith("\ufeff") ? "\ufeff" : "";
    const withValues = editValues(before.slice(mark.length), changes, { file, reasons });
    const after = mark + addOverrides(withValues, changes, { file, reasons, names });
    if (after !== before)
      edits.push({ file, path, before, after, diff: diffOf(file, before, after), values: valuesIn(file, differences, reasons) });
  }
  return {
    edits,
    accepted: differences.filter((_, index) => !reasons.has(index)).map(({ edits: _, ...difference }) => difference),
    unaccepted: differences.flatMap(({ address, path }, index) => {
      const why = reasons.get(index);
      return why === undefined ? [] : [{ address, path, why }];
    }),
  };
}

/** What the edits of a file set, without those that have a reason not to. */
const valuesIn = (file: string, differences: readonly DifferenceEdits[], reasons: Reasons): readonly AcceptedValue[] =>
  differences.flatMap(({ edits }, index) =>
    edits.flatMap((edit): readonly AcceptedValue[] => {
      if (edit.how === "refused" || reasons.has(index)) return [];
      const isInNew = edit.how === "override";
      const { address, place } = isInNew ? { address: edit.item.address, place: edit.home.place } : edit.resource;
      return place.file === file ? [{ address, path: toPointer(edit.path.slice(1)), value: edit.value, isInNew }] : [];
    }),
  );

function byFile(differences: readonly DifferenceEdits[], reasons: Reasons): ReadonlyMap<string, InFile> {
  const files = new Map<string, InFile>();
  for (const [index, { edits }] of differences.entries())
    for (const edit of edits) {
      if (edit.how === "refused") {
        reasons.set(index, edit.why);
        continue;
      }
      const { document, file } = (edit.how === "value" ? edit.resource : edit.home).place;
      const { values, overrides } = getOrAdd(files, file, () => ({ values: new Map(), overrides: new Map() }));
      if (edit.how === "override") getOrAdd(overrides, edit.item.address, () => []).push({ index, value: edit });
      else getOrAdd(values, document, () => []).push({ index, value: { type: "set", path: edit.path, value: edit.value } });
    }
  return files;
}

function editValues(text: string, { values }: InFile, { file, reasons }: { readonly file: string; readonly reasons: Reasons }): string {
  let edited = text;
  for (const [document, indexed] of values) {
    const result = editYaml(
      edited,
      document,
      indexed.map(({ value }) => value),
    );
    edited = result.text;
    for (const { edit, why } of result.refused) {
      const index = indexed.find(({ value }) => value === edit)?.index;
      if (index !== undefined) reasons.set(index, `${edit.path.join(".")} in ${file} was not edited: ${why}.`);
    }
  }
  return edited;
}

function addOverrides(
  text: string,
  { overrides }: InFile,
  { file, reasons, names }: { readonly file: string; readonly reasons: Reasons; readonly names: Set<Address> },
): string {
  let edited = text;
  for (const indexed of overrides.values()) {
    const longer = withOverride(
      edited,
      indexed.map(({ value }) => value),
      names,
    );
    if (longer === undefined) for (const { index } of indexed) reasons.set(index, `No document can be added to ${file}.`);
    else edited = longer;
  }
  return edited;
}

/**
 * Writes the edits, each file at once. Throws E_FILE_CHANGED before the first write if a file has
 * changed since it was read.
 */
export async function writeEdits(edits: readonly FileEdit[], write: WriteFile): Promise<void> {
  for (const { path, before, file } of edits)
    if ((await readFile(path, "utf8").catch(() => undefined)) !== before)
      throw new DimsyncError("E_FILE_CHANGED", `${file} has changed since it was read, so nothing was written. Run the command again.`);
  for (const { path, after } of edits) await write(path, after);
}

function diffOf(file: string, before: string, after: string): string {
  // If this takes too long, a note replaces the diff.
  const patch: string | undefined = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, "", "", { context: 3, timeout: 10_000 });
  return patch ?? `--- a/${file}\n+++ b/${file}\n(the diff is too large to show)\n`;
}
