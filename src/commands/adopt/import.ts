import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import { scopeOf } from "../../engine/scope.ts";
import type { FileChange } from "../../import/file-set.ts";
import { nameMatcher, namesMatcher } from "../../kinds/patterns/names.ts";
import type { Project } from "../../manifests/project.ts";
import { type Address, byText } from "../../model/address.ts";
import { DimsyncError, ProblemsError } from "../../model/errors.ts";
import { combineExits, type Exit, type ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Context } from "../shared/context.ts";
import type { ImportFlags } from "../shared/flags.ts";
import { planAccount } from "../shared/operations.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";
import { type Imported, importAccount } from "./import-account.ts";
import { importFolder } from "./import-folder.ts";

/** What `dimsync import -o json` prints. */
export interface ImportReport {
  readonly kind: "Import";
  readonly target: string;
  readonly dryRun: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly action: "created" | "changed";
    readonly lines: number;
    readonly diff?: string;
  }[];
  readonly bindings: Readonly<Record<Address, string>>;
  readonly notices: readonly string[];
  readonly failures: Imported["failures"];
  /** What the plan after it still has to say, a line each; absent after a dry run. Empty is the proof. */
  readonly remaining?: readonly string[];
  readonly exit: Exit;
}

/** `dimsync import [ADDRESS…]`: live objects become manifests and bindings; those that exist are updated. Sends GET only; writes files. */
export async function runImport(context: Context<ImportFlags>, addresses: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context);
  const out = importFolder(project, flags.out === undefined ? undefined : resolve(cwd, flags.out));
  refuseProblems(project, out);
  const progress = showProgress(context);
  const run = { env: io.env, signal: io.interrupted, onProgress: progress.onProgress };
  const files: ImportReport["files"][number][] = [];
  const selection = selectionOf(addresses);
  try {
    const imported = await importAccount(
      project,
      {
        cwd,
        out,
        dryRun: flags.dryRun === true,
        literal: flags.literal === true,
        isWanted: selection.isWanted,
        beforeWriting: selection.refuseUnused,
        onFile: (change) => files.push(fileReport(change, cwd)),
      },
      run,
    );
    const remaining =
      flags.dryRun === true ? undefined : await proof(context, addresses.length === 0 ? undefined : imported.addresses, run);
    const report = reportOf(project, flags, files, imported, remaining);
    progress.end();
    await deliverForms(context, { human: () => humanText(report, imported), json: () => `${JSON.stringify(report, undefined, 2)}\n` });
    return report.exit.code;
  } finally {
    progress.end();
  }
}

/** The addresses that a person asked for, as globs. `refuseUnused` throws E_UNKNOWN_ADDRESS for one that met no address when all have been looked at. */
function selectionOf(patterns: readonly string[]) {
  const asked = patterns.map((pattern) => ({ pattern, matches: nameMatcher([pattern]), used: false }));
  const seen = new Set<Address>();
  return {
    isWanted: (address: Address): boolean => {
      seen.add(address);
      const found = asked.filter(({ matches }) => matches(address));
      for (const one of found) one.used = true;
      return asked.length === 0 || found.length > 0;
    },
    refuseUnused: (): void => {
      const unused = asked.find(({ used }) => !used)?.pattern;
      if (unused === undefined) return;
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `Nothing in the account would have the address ${JSON.stringify(unused)}.${didYouMean(unused, [...seen])} See what there is.`,
        { command: "dimsync import --dry-run" },
      );
    },
  };
}

/** A folder for manifests that isn't there yet is no mistake here: import makes it. */
function refuseProblems(project: Project, out: string): void {
  const errors = project.problems.filter(
    ({ severity, code }) => severity === "error" && !(code === "E_PATH_NOT_FOUND" && !existsSync(out)),
  );
  if (errors.length > 0) throw new ProblemsError(errors, project.locate);
}

const fileReport = ({ path, before, after }: FileChange, cwd: string): ImportReport["files"][number] => {
  const shown = relative(cwd, path);
  const lines = after.split("\n").length - 1;
  if (before === undefined) return { path: shown, action: "created", lines };
  const patch = createTwoFilesPatch(`a/${shown}`, `b/${shown}`, before, after, undefined, undefined, { context: 2 });
  return { path: shown, action: "changed", lines, diff: patch.replace(/^=+\n/u, "") };
};

/** Loads what was written and plans it: every line that comes back is something that import did not get right, or that was different before. */
async function proof(
  context: Context<ImportFlags>,
  addresses: readonly Address[] | undefined,
  run: Parameters<typeof planAccount>[2],
): Promise<readonly string[]> {
  const project = await loadOneProject(context);
  const options = addresses === undefined ? {} : { scope: scopeOf(addresses, [], namesMatcher) };
  return linesOf(await planAccount(project, options, run));
}

function linesOf({ items, manual, blocked, deferred, diagnostics }: Plan): readonly string[] {
  return [
    ...diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ code, message, address }) => `${address ?? "plan"}: ${code}: ${message}`),
    ...items
      .filter(({ action }) => action !== "bind")
      .map(
        ({ address, action, changes }) =>
          `${address}: ${action} ${changes
            .map(({ path }) => path)
            .slice(0, 5)
            .join(", ")}`,
      ),
    ...manual.map(({ address, path, instruction }) => `${address}: ${path}: ${instruction}`),
    ...blocked.map(({ address, code, message }) => `${address}: ${code}: ${message}`),
    ...deferred.map(({ address, waitsFor }) => `${address}: waits for ${waitsFor.join(", ")}`),
  ];
}

function reportOf(
  project: Project,
  flags: ImportFlags,
  files: ImportReport["files"],
  imported: Imported,
  remaining: readonly string[] | undefined,
): ImportReport {
  const exits: Exit[] = [];
  if (imported.failures.length > 0) exits.push({ code: 1, reasons: ["failures"] });
  if (remaining !== undefined && remaining.length > 0) exits.push({ code: 1, reasons: ["not-empty"] });
  return {
    kind: "Import",
    target: project.settings.target,
    dryRun: flags.dryRun === true,
    files: [...files].sort((a, b) => byText(a.path, b.path)),
    bindings: Object.fromEntries([...imported.bound].sort(([a], [b]) => byText(a, b))),
    notices: imported.notices,
    failures: imported.failures,
    ...(remaining === undefined ? {} : { remaining }),
    exit: combineExits(exits),
  };
}

function humanText(report: ImportReport, { addresses }: Imported): string {
  const { files, bindings, notices, failures, remaining, dryRun } = report;
  const lines: string[] = [];
  for (const { path, action, lines: count, diff } of files) {
    lines.push(
      action === "created"
        ? `${dryRun ? "would create" : "created"}  ${path} (${count} lines)`
        : `${dryRun ? "would change" : "changed"}  ${path}`,
    );
    if (diff !== undefined)
      lines.push(
        ...diff
          .trimEnd()
          .split("\n")
          .map((line) => `  ${line}`),
      );
  }
  const bound = Object.keys(bindings).length;
  if (bound > 0) lines.push(`${dryRun ? "would bind" : "bound"}    ${bound} ${bound === 1 ? "object" : "objects"}`);
  for (const notice of notices) lines.push(`note     ${notice}`);
  for (const { address, message } of failures) lines.push(`failed   ${address}: ${message}`);
  if (lines.length > 0) lines.push("");
  if (remaining === undefined) lines.push("Nothing was written: this was a dry run.");
  else if (remaining.length === 0)
    lines.push(
      `${addresses.length} manifests stand for ${failures.length === 0 ? "the account" : "what could be read"}, and the plan after it is empty.`,
    );
  else lines.push("The plan after it is not empty:", ...remaining.map((line) => `  ${line}`));
  return `${lines.map(visible).join("\n")}\n`;
}
