import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject, loadOptions } from "../../cli/project.ts";
import { DimsyncError, messageOf } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import { andMore, moreOf } from "../../core/base/text/lists.ts";
import type { Entry, Line, Section, Tone } from "../../core/render/index.ts";
import { code, muted, name, textEntries, titled, untitled, word } from "../../core/render/index.ts";
import { sectionsText } from "../../core/render/terminal/index.ts";
import { importProject } from "./import.ts";
import type { ImportFlags } from "./index.ts";
import type { ImportReport } from "./report.ts";
import { readTerraformState } from "./terraform.ts";

/** `dimsync import [ADDRESS…]`: writes manifests and bindings for live objects, or updates them. Sends GET only; writes files. */
export async function runImport(context: Context<ImportFlags>, addresses: readonly string[]): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true });
  const { dryRun = false } = flags;
  const state = flags.terraformState === undefined ? undefined : readTerraformState(readState(cwd, flags.terraformState));
  const out = flags.out === undefined ? undefined : resolve(cwd, flags.out);
  const options = { load: loadOptions(context, []), addresses, out, dryRun, state };
  const { report, manifests } = await withRun(context, (run) => importProject(project, options, run));
  await deliverForms(context, {
    human: (how) => sectionsText(importSections(report, manifests), how),
    json: () => jsonDocument(report),
  });
  return report.exit.code;
}

/** `-` is the standard input. */
function readState(cwd: string, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : resolve(cwd, file), "utf8");
  } catch (error) {
    throw new DimsyncError("E_USAGE", `--terraform-state ${file} can't be read: ${messageOf(error)}.`, { cause: error });
  }
}

/** `manifests`: how many were written or found. */
export const importSections = (report: ImportReport, manifests: number): readonly Section[] => [
  untitled("files", fileEntries(report)),
  untitled("other", otherEntries(report)),
  ...stateSections(report.state),
  ...endSections(report, manifests),
];

/** Labels of one width, so that all entries are aligned. */
const label = (text: string, tone: Tone, { dryRun }: ImportReport): Line => [
  word(text.padEnd((dryRun ? "would create" : "created").length), tone),
];

const mostDiffs = 3;

/** Each file; many whose metadata changed are one entry, because a notice says what they got. */
function fileEntries(report: ImportReport): readonly Entry[] {
  const inMetadata = report.files.filter(({ isMetadata }) => isMetadata);
  if (inMetadata.length <= mostDiffs) return report.files.map(fileEntry(report));
  const others = report.files.filter(({ isMetadata }) => isMetadata !== true);
  const paths = inMetadata.map(({ path }) => path);
  const changed = label(report.dryRun ? "would change" : "changed", "warn", report);
  const many: Entry = { head: [changed, [`metadata in ${counted(paths.length, "file")}`], [muted(andMore(paths, "file"))]] };
  return [...others.map(fileEntry(report)), many];
}

/** A file, a changed one with its diff. */
const fileEntry =
  (report: ImportReport) =>
  ({ path, action, lines, diff = "" }: ImportReport["files"][number]): Entry =>
    action === "created"
      ? { head: [label(report.dryRun ? "would create" : "created", "good", report), [path], [muted(counted(lines, "line"))]] }
      : { head: [label(report.dryRun ? "would change" : "changed", "warn", report), [path]], yaml: diff.trimEnd().split("\n") };

/** What was bound, noticed and not imported. */
function otherEntries(report: ImportReport): readonly Entry[] {
  const { bindings, notices, failures, dryRun } = report;
  const bound = Object.keys(bindings).length;
  return [
    ...(bound > 0 ? [{ head: [label(dryRun ? "would bind" : "bound", "good", report), [counted(bound, "object")]] }] : []),
    ...notices.map((notice) => ({ head: [label("note", "quiet", report), [notice]] })),
    ...failures.map(({ address, message }) => ({ head: [label("failed", "bad", report), [`${address}: ${message}`]] })),
  ];
}

const mostNodes = 20;

function stateSections(state: ImportReport["state"]): readonly Section[] {
  const titles = {
    missing: "In the state, and not in the account",
    neverKept: "In the state, and never kept by the service. The manifests leave it out",
    readable: "Readable in the account, although the state says otherwise. Apply protects it",
  } as const;
  return Object.entries(titles).flatMap(([list, title]) => {
    const nodes = state?.[list as keyof typeof titles] ?? []; // a key of `titles`
    const more = nodes.length > mostNodes ? [[moreOf(nodes.length - mostNodes, "entry")]] : [];
    return nodes.length === 0 ? [] : [titled(list, title, textEntries([...nodes.slice(0, mostNodes).map((node) => [node]), ...more]))];
  });
}

function endSections({ remaining, stricter, failures, command, errors = [] }: ImportReport, manifests: number): readonly Section[] {
  if (remaining === undefined) return [untitled("end", [{ head: [["This was a dry run: nothing was written."]] }])];
  const failed = errors.map(
    ({ code: of, message, address = "", command: fix }): Entry => ({
      sign: "✗",
      tone: "bad",
      head: address === "" ? [[code(of, "bad")]] : [[name(address)], [code(of, "bad")]],
      notes: [[message]],
      commands: fix === undefined ? [] : [fix],
    }),
  );
  const differences = titled("remaining", "The plan after the import is not empty", textEntries(remaining.map((text) => [text])));
  const accept = "Import does not change what a manifest covers. To accept the differences into the manifests:";
  if (failed.length + remaining.length > 0)
    return [
      ...(failed.length === 0 ? [] : [titled("errors", "The plan after the import has errors", failed)]),
      ...(remaining.length === 0 ? [] : [command === undefined ? differences : { ...differences, notes: [[accept]], command }]),
    ];
  const what = failures.length === 0 ? "the account" : "the part of the account that was imported";
  const plan =
    stricter === undefined ? "is empty" : `has only ${counted(stricter, "change")}, ${stricter === 1 ? "which protects" : "all protect"}`;
  return [untitled("end", [{ head: [[`${counted(manifests, "manifest")} for ${what}. The plan after the import ${plan}.`]] }])];
}
