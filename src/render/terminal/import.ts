import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { cell, type Row, type Screen, screenOf, tableLines, wrap } from "./layout.ts";

/** What `dimsync import` did, or would do. */
export interface ShownImport {
  readonly dryRun: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly action: "created" | "changed";
    readonly lines: number;
    /** Unified; absent for a new file. */
    readonly diff?: string;
  }[];
  readonly bindings: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
  readonly failures: readonly { readonly address: string; readonly message: string }[];
  /** What the plan after the import contains, one line each; absent after a dry run. */
  readonly remaining?: readonly string[];
  /** How many changes that protect the plan after the import has; absent if none. */
  readonly stricter?: number;
  /** The command that accepts the differences into the manifests. */
  readonly command?: string;
  /** The errors of the plan after the import; absent if it has none. */
  readonly errors?: readonly { readonly code: string; readonly message: string; readonly address?: string; readonly command?: string }[];
}

/** `manifests`: how many were written or found. */
export function importText(report: ShownImport, manifests: number, options: RenderOptions): string {
  const screen = screenOf(options);
  const steps = [...tableLines(fileRows(report, screen), "", screen.width), ...tableLines(otherRows(report, screen), "", screen.width)];
  return `${[...steps, ...(steps.length > 0 ? [""] : []), ...summaryLines(report, manifests, screen)].join("\n")}\n`;
}

/** Labels of one width, so that all rows are aligned. */
const labelText = (text: string, { dryRun }: ShownImport): string => text.padEnd((dryRun ? "would create" : "created").length);

const done = (report: ShownImport, past: string, verb: string): string => labelText(report.dryRun ? `would ${verb}` : past, report);

/** Each file, a changed one with its diff. */
function fileRows(report: ShownImport, { paint }: Screen): readonly Row[] {
  return report.files.flatMap(({ path, action, lines, diff }): readonly Row[] =>
    action === "created"
      ? [[cell(done(report, "created", "create"), paint.green), cell(visible(path)), cell(counted(lines, "line"), paint.dim)]]
      : [[cell(done(report, "changed", "change"), paint.yellow), cell(visible(path))], ...diffLines(diff)],
  );
}

/** What was bound, noticed and not imported. */
function otherRows(report: ShownImport, { paint }: Screen): readonly Row[] {
  const bound = Object.keys(report.bindings).length;
  return [
    ...(bound > 0 ? [[cell(done(report, "bound", "bind"), paint.green), cell(counted(bound, "object"))]] : []),
    ...report.notices.map((notice) => [cell(labelText("note", report), paint.dim), cell(visible(notice))]),
    ...report.failures.map(({ address, message }) => [
      cell(labelText("failed", report), paint.red),
      cell(visible(`${address}: ${message}`)),
    ]),
  ];
}

/** Source lines are never wrapped. */
const diffLines = (diff = ""): readonly string[] =>
  diff
    .trimEnd()
    .split("\n")
    .map((line) => `  ${visible(line)}`);

function summaryLines(report: ShownImport, manifests: number, { width, paint }: Screen): readonly string[] {
  const { remaining, stricter, failures, command, errors = [] } = report;
  if (remaining === undefined) return ["This was a dry run: nothing was written."];
  const failed = errors.flatMap(({ code, message, address = "", command: fix }) => [
    ...wrap(visible(`${address === "" ? "" : `${address}: `}${code}: ${message}`), "  ", width),
    ...(fix === undefined ? [] : [`    ${paint.cyan(visible(fix))}`]),
  ]);
  const differences = [
    ...remaining.flatMap((line) => wrap(line, "  ", width)),
    ...(command === undefined
      ? []
      : [
          ...wrap("Import does not change what a manifest covers. To accept the differences into the manifests:", "", width),
          `  ${paint.cyan(visible(command))}`,
        ]),
  ];
  if (failed.length + remaining.length > 0)
    return [
      ...(failed.length === 0 ? [] : ["The plan after the import has errors:", ...failed]),
      ...(remaining.length === 0 ? [] : ["The plan after the import is not empty:", ...differences]),
    ];
  const what = failures.length === 0 ? "the account" : "the part of the account that was imported";
  const plan =
    stricter === undefined ? "is empty" : `only has ${counted(stricter, "change")} that ${stricter === 1 ? "protects" : "protect"}`;
  return wrap(`${counted(manifests, "manifest")} for ${what}. The plan after the import ${plan}.`, "", width);
}
