import { relative } from "node:path";
import { createTwoFilesPatch } from "diff";
import { type Address, byText } from "../model/address.ts";
import { eachChange } from "../model/changes.ts";
import { combineExits, type Exit } from "../model/exit.ts";
import type { Plan } from "../model/plan.ts";
import type { ImportFailure } from "./failure.ts";
import type { FileChange } from "./file-set.ts";
import type { Imported } from "./run.ts";

/** What `dimsync import -o json` prints. */
export interface ImportReport {
  readonly kind: "Import";
  readonly target: string;
  readonly dryRun: boolean;
  readonly files: readonly ImportedFile[];
  readonly bindings: Readonly<Record<Address, string>>;
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  /** What the plan after the import contains, one line each; absent after a dry run. Empty if the manifests match the account. */
  readonly remaining?: readonly string[];
  readonly exit: Exit;
}

export interface ImportedFile {
  /** As shown: relative to the working directory. */
  readonly path: string;
  readonly action: "created" | "changed";
  readonly lines: number;
  /** Unified; absent for a new file. */
  readonly diff?: string;
}

export function importedFile({ path, before, after }: FileChange, cwd: string): ImportedFile {
  const shown = relative(cwd, path);
  const lines = after.split("\n").length - 1;
  if (before === undefined) return { path: shown, action: "created", lines };
  const patch = createTwoFilesPatch(`a/${shown}`, `b/${shown}`, before, after, undefined, undefined, { context: 2 });
  return { path: shown, action: "changed", lines, diff: patch.replace(/^=+\n/u, "") };
}

export interface ReportInput {
  readonly target: string;
  readonly files: readonly ImportedFile[];
  readonly imported: Imported;
  /** The plan after the import; undefined for a dry run. */
  readonly plan: Plan | undefined;
}

export function importReport({ target, files, imported, plan }: ReportInput): ImportReport {
  const remaining = plan === undefined ? undefined : linesOf(plan);
  const exits: Exit[] = [];
  if (imported.failures.length > 0) exits.push({ code: 1, reasons: ["failures"] });
  if (remaining !== undefined && remaining.length > 0) exits.push({ code: 1, reasons: ["not-empty"] });
  return {
    kind: "Import",
    target,
    dryRun: plan === undefined,
    files: [...files].sort((a, b) => byText(a.path, b.path)),
    bindings: Object.fromEntries([...imported.bound].sort(([a], [b]) => byText(a, b))),
    notices: imported.notices,
    failures: imported.failures,
    ...(remaining === undefined ? {} : { remaining }),
    exit: combineExits(exits),
  };
}

/** Everything in the plan that is not a bind: what import did not get right, or what differed before. */
function linesOf({ items, manual, blocked, deferred, diagnostics }: Plan): readonly string[] {
  const paths = (item: Plan["items"][number]): string =>
    [...eachChange(item)]
      .slice(0, 5)
      .map(({ path }) => path)
      .join(", ");
  return [
    ...diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ code, message, address }) => `${address ?? "plan"}: ${code}: ${message}`),
    ...items.filter(({ action }) => action !== "bind").map((item) => `${item.address}: ${item.action} ${paths(item)}`),
    ...manual.map(({ address, path, instruction }) => `${address}: ${path}: ${instruction}`),
    ...blocked.map(({ address, code, message }) => `${address}: ${code}: ${message}`),
    ...deferred.map(({ address, waitsFor }) => `${address}: waits for ${waitsFor.join(", ")}`),
  ];
}
