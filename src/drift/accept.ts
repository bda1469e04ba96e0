import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import type { Address } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { WriteFile } from "./history.ts";
import { type Override, withOverride } from "./overrides.ts";
import { type AcceptedProject, acceptingOf } from "./plan-edits.ts";
import { editYaml, type Wish } from "./yaml-edit.ts";

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
}

/** A difference that no edit takes over; `why` says in sentences why not and what to do instead. */
export interface Unaccepted {
  readonly address: Address;
  readonly path: Pointer;
  readonly why: string;
}

export interface Accepted {
  /** By file, in the order of the report. Nothing is written yet. */
  readonly edits: readonly FileEdit[];
  /** How many differences the edits take over. */
  readonly accepted: number;
  readonly unaccepted: readonly Unaccepted[];
}

/** What a file is to take: values at places, and new configurations by the address that they take over from. The numbers are differences. */
interface InFile {
  readonly wishes: Map<Wish, number>;
  readonly overrides: Map<Address, (Override & { readonly index: number })[]>;
}

/**
 * The edits that make the manifests agree with the account as the report saw it: literals in place, an overriding literal where a rule decided, a
 * configuration of its own where the manifest acts on several integrations. All other bytes stay. `cwd` is what shown file names are relative to.
 * Throws E_ACCEPT_BROKEN where the manifests hold errors, and what Node's calls throw.
 */
export async function acceptDrift(
  report: Plan,
  project: AcceptedProject & { readonly problems: readonly Problem[] },
  cwd: string,
): Promise<Accepted> {
  if (project.problems.some(({ severity }) => severity === "error"))
    throw new DimsyncError("E_ACCEPT_BROKEN", "The manifests hold errors, so there is nothing sound to edit. Mend them first.", {
      command: "dimsync validate",
    });
  const accepting = acceptingOf(report, project);
  const why = new Map<number, string>();
  const byFile = new Map<string, InFile>();
  const inFile = (file: string): InFile => {
    const known = byFile.get(file) ?? { wishes: new Map(), overrides: new Map() };
    byFile.set(file, known);
    return known;
  };
  for (const [index, { acceptances }] of accepting.entries())
    for (const acceptance of acceptances) {
      if (acceptance.how === "refused") {
        why.set(index, acceptance.why);
        continue;
      }
      const { document, file } = acceptance.resource.place;
      const { wishes, overrides } = inFile(file);
      if (acceptance.how === "value") wishes.set({ document, path: acceptance.path, value: acceptance.value }, index);
      else {
        const known = overrides.get(acceptance.item.address) ?? [];
        overrides.set(acceptance.item.address, known);
        known.push({ ...acceptance, index });
      }
    }

  const edits: FileEdit[] = [];
  const taken = new Set(project.resources.map(({ address }) => address));
  for (const [file, { wishes, overrides }] of byFile) {
    const path = resolve(cwd, file);
    const before = await readFile(path, "utf8");
    const mark = before.startsWith("\ufeff") ? "\ufeff" : "";
    const edited = editYaml(before.slice(mark.length), [...wishes.keys()]);
    for (const { wish, why: reason } of edited.refused) {
      const index = wishes.get(wish);
      if (index !== undefined) why.set(index, `${wish.path.join(".")} in ${file} is not edited: ${reason}.`);
    }
    let text = edited.text;
    for (const values of overrides.values()) {
      const longer = withOverride(text, values, taken);
      if (longer === undefined) for (const { index } of values) why.set(index, `${file} can't take another document.`);
      else text = longer;
    }
    const after = mark + text;
    if (after !== before) edits.push({ file, path, before, after, diff: diffOf(file, before, after) });
  }
  return {
    edits,
    accepted: accepting.length - why.size,
    unaccepted: accepting.flatMap(({ address, path }, index) => {
      const reason = why.get(index);
      return reason === undefined ? [] : [{ address, path, why: reason }];
    }),
  };
}

/** Writes the edits, each file at once. Throws E_FILE_CHANGED before the first write where a file is no longer as it was read. */
export async function writeEdits(edits: readonly FileEdit[], write: WriteFile): Promise<void> {
  for (const { path, before, file } of edits)
    if ((await readFile(path, "utf8").catch(() => undefined)) !== before)
      throw new DimsyncError("E_FILE_CHANGED", `${file} has changed since it was read, so nothing was written. Run the command again.`);
  for (const { path, after } of edits) await write(path, after);
}

function diffOf(file: string, before: string, after: string): string {
  // Beyond the time a whole-file diff says the same, at length.
  const patch: string | undefined = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, "", "", { context: 3, timeout: 10_000 });
  return patch ?? `--- a/${file}\n+++ b/${file}\n(the difference is too large to be shown)\n`;
}
