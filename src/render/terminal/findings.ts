import { policyAddress } from "../../kinds/manifests.ts";
import type { GuardFinding } from "../../model/findings.ts";
import type { Deferred, Unverifiable } from "../../model/plan.ts";
import type { Severity } from "../../model/problem.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { nameText, wholePath } from "../../text/paths.ts";
import { severitySigns } from "../../text/signs.ts";
import { cutMiddle, valueLines } from "../../text/values.ts";
import { traceText } from "../report/attribution.ts";
import type { BlockedGroup } from "../report/blocked.ts";
import { changeLines, waitsForText } from "../report/changes/changes.ts";
import { grouped } from "../report/changes/grouped.ts";
import { acceptNote, type ReportColumn } from "../report/columns.ts";
import { heldNote } from "../report/held.ts";
import { nodeCount, type Policies, type PolicyGroup } from "../report/policies.ts";
import { guardText, liftReason } from "../report/refusals.ts";
import { releasedNote } from "../report/released.ts";
import { integrationsText } from "../report/unmanaged.ts";
import { partTitles, type Words } from "../report/words.ts";
import type { ManualStep, Report } from "../report.ts";
import { changeRows } from "./changes.ts";
import { cell, joined, type Screen, tableLines, wrap } from "./layout.ts";

const indent = "    ";

/** Entries that wait for an object that another item creates, with their desired state. */
export function deferredLines(deferred: Deferred, { paint, width }: Screen): readonly string[] {
  const head = [cell("… ", paint.blue), cell(visible(deferred.address), paint.bold)];
  return [
    ...tableLines([[joined(...head), cell(waitsForText(deferred, visible), paint.dim)]], "", width),
    ...valueLines(deferred.desired).map((line) => indent + line),
  ];
}

/** What `--protect-only` does not send. Single changes only with -v. */
export function heldLines({ held, words }: Report, screen: Screen): readonly string[] {
  if (held.length === 0) return [];
  const { paint, verbose, width } = screen;
  const shown = verbose ? held : held.slice(0, mostNodes);
  const rows = shown.map(({ address, text }) => [
    joined(cell("- ", paint.yellow), cell(visible(address), paint.bold)),
    cell(text, paint.dim),
  ]);
  const lines = verbose
    ? shown.flatMap(({ action, held: one }, index) => [
        ...tableLines(rows.slice(index, index + 1), "", width),
        ...changeRows(changeLines(one, words), action, words, screen),
      ])
    : tableLines(rows, "", width);
  return [
    paint.bold(`${partTitles.held} (${held.length}):`),
    ...lines,
    ...(shown.length < held.length ? [paint.dim(`${indent}and ${held.length - shown.length} more: -v shows them`)] : []),
    ...wrap(heldNote, indent, width),
  ];
}

export function blockedLines({ names, code, message, command }: BlockedGroup, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const head = joined(cell("✗ ", paint.red), cell(visible(names), paint.bold));
  return [
    ...tableLines([[head, cell(visible(code), paint.red)]], "", width),
    ...wrap(message, indent, width),
    ...commandLines(command, screen),
  ];
}

/** A command on its own line, if there is one. Never wrapped, so that it can be copied. */
export const commandLines = (command: string | undefined, { paint }: Screen, before = "      "): readonly string[] =>
  command === undefined ? [] : [`${before}${paint.cyan(visible(command))}`];

/** The numbered checklist, and the steps done since the previous report. */
export function manualLines({ manual, done, words }: Report, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const steps = manual.flatMap((step) => stepLines(step, words, screen));
  const finished = done.map(({ id, address, path }) => [
    cell(`✓ ${visible(address)}`, paint.green),
    cell(wholePath(path), paint.cyan),
    cell(visible(id), paint.dim),
  ]);
  return [
    ...(steps.length === 0 ? [] : [paint.bold(`${partTitles.manual} (no request can change these):`), ...steps]),
    ...(steps.length === 0 || finished.length === 0 ? [] : [""]),
    ...(finished.length === 0 ? [] : [paint.bold(`${partTitles.done}:`), ...tableLines(finished, "", width)]),
  ];
}

function stepLines(
  { number, id, address, path, live, desired, instruction, trace }: ManualStep,
  words: Words,
  screen: Screen,
): readonly string[] {
  const { paint, width, verbose } = screen;
  const isReport = words.kind === "DriftReport";
  const value = (word: string, text: string): string =>
    text === "" ? "" : `${word} ${verbose ? text : cutMiddle(text, Math.max(16, Math.floor(width / 3)))}`;
  const head = [
    joined(cell(`${number}. `, paint.magenta), cell(visible(address), paint.bold)),
    cell(path, paint.cyan),
    cell(joinParts([value(isReport ? "live" : "is", live), value(isReport ? "desired" : "must be", desired)], ", ")),
    cell(visible(id), paint.dim),
  ];
  return [...tableLines([head], "", width), ...wrap(instruction, indent, width), ...wrap(traceText(trace), indent, width).map(paint.dim)];
}

export function unverifiableLines({ address, paths, reason }: Unverifiable, { paint, verbose, width }: Screen): readonly string[] {
  const head = [
    cell(`? ${visible(address)}`, paint.yellow),
    cell(`${counted(paths.length, "value")} unverifiable: ${visible(reason)}`, paint.dim),
  ];
  return [...tableLines([head], "", width), ...(verbose ? paths.map((path) => paint.dim(`${indent}${wholePath(path)}`)) : [])];
}

/** Unmanaged objects, counted. A report and -v also list them. */
export function unmanagedLines({ unmanaged, words }: Report, { paint, verbose, width }: Screen): readonly string[] {
  const { counts, objects, tables, canListColumns } = unmanaged;
  if (counts === "" && tables.length === 0) return [];
  const named = verbose || words.kind === "DriftReport" ? objects : [];
  const hint = canListColumns ? " (--list-unmanaged names them)" : "";
  return [
    ...wrap(`${partTitles.unmanaged}: ${counts === "" ? "columns of tables that were not read" : counts}${hint}.`, "", width),
    ...tableLines(
      named.map(({ kind, name, id }) => [cell(kind, paint.dim), cell(nameText(name), paint.dim), cell(visible(id), paint.dim)]),
      indent,
      width,
    ),
    ...tableLines(
      tables.map(({ table, columns, integrations }) => [
        cell(table),
        cell(columns),
        cell(integrationsText(integrations, verbose ? integrations.length : undefined), paint.dim),
      ]),
      indent,
      width,
    ),
  ];
}

/** What someone changed in the account, and apply undoes. */
export function outsideLines({ outside: { note, lines } }: Report, { paint, verbose, width }: Screen): readonly string[] {
  if (note === "") return [];
  const shown = verbose ? lines : lines.slice(0, mostNodes);
  return [
    ...wrap(note, "", width).map(paint.bold),
    ...shown.flatMap((text) => wrap(text, indent, width)),
    ...(shown.length < lines.length ? [paint.dim(`${indent}and ${lines.length - shown.length} more: -v shows them`)] : []),
  ];
}

/** Objects that lost their manifest since the base. */
export function releasedLines({ released }: Report, { paint, verbose, width }: Screen): readonly string[] {
  const [first = "", ...more] = released;
  if (first === "") return [];
  if (more.length === 0) return wrap(`${partTitles.released}: ${first}. ${releasedNote}`, "", width);
  const shown = verbose ? released : released.slice(0, mostNodes);
  return [
    ...wrap(`${partTitles.released}: ${counted(released.length, "object")}. ${releasedNote}`, "", width),
    ...shown.flatMap((text) => wrap(text, indent, width)),
    ...(shown.length < released.length ? [paint.dim(`${indent}and ${released.length - shown.length} more: -v shows them`)] : []),
  ];
}

/** New columns, with what the service does with them now, and columns that are gone. */
export function columnLines(
  { columns: { title, added, goneTitle, gone, neverReviewed, command } }: Report,
  screen: Screen,
): readonly string[] {
  if (command === "") return [];
  const { paint, verbose, width } = screen;
  const lines = (all: readonly ReportColumn[]): readonly string[] => {
    const shown = verbose ? all : all.slice(0, mostNodes);
    const rows = shown.map(({ name, state, label, isReadable, integrations }) => [
      cell(name, paint.cyan),
      cell(state, isReadable ? paint.red : paint.dim),
      cell(label, paint.yellow),
      cell(integrationsText(integrations, verbose ? integrations.length : undefined), paint.dim),
    ]);
    return [
      ...tableLines(rows, indent, width),
      ...(shown.length < all.length ? [paint.dim(`${indent}and ${all.length - shown.length} more: -v shows them`)] : []),
    ];
  };
  return [
    ...(title === "" ? [] : [...wrap(`${title} (not reviewed):`, "", width).map(paint.bold), ...lines(added)]),
    ...(verbose ? neverReviewed : neverReviewed.slice(0, mostNodes)).flatMap((text) => wrap(text, "", width).map(paint.bold)),
    ...(verbose || neverReviewed.length <= mostNodes
      ? []
      : [paint.dim(`${indent}and ${neverReviewed.length - mostNodes} more: -v shows them`)]),
    ...(goneTitle === "" ? [] : [...wrap(`${goneTitle}:`, "", width).map(paint.bold), ...lines(gone)]),
    ...wrap(acceptNote, indent, width),
    ...commandLines(command, screen),
  ];
}

const mostNodes = 20;
const fewNodes = 3;

/** New findings in full, existing ones in short, fixed ones only counted. */
export function policyBlocks({ open, existing, fixed }: Policies, screen: Screen): readonly (readonly string[])[] {
  const { paint, verbose, width } = screen;
  const title = (text: string, groups: readonly PolicyGroup[]): string => paint.bold(`${text} (${nodeCount(groups)}):`);
  const removed = grouped(fixed, ({ policy }) => policy).map((groups) => [
    joined(cell("✓ ", paint.green), cell(policyAddress(visible(groups[0].policy)), paint.bold)),
    cell(counted(nodeCount(groups), "place"), paint.dim),
  ]);
  return [
    ...open.map((group) => policyLines(group, screen, mostNodes)),
    existing.length === 0
      ? []
      : [title(partTitles.existing, existing), ...existing.flatMap((group) => policyLines(group, screen, verbose ? mostNodes : fewNodes))],
    fixed.length === 0 ? [] : [title(partTitles.fixed, fixed), ...tableLines(removed, "", width)],
  ];
}

/** The findings of one policy with the same message: the message once, followed by the nodes. */
function policyLines({ policy, severity, message, place, nodes }: PolicyGroup, screen: Screen, most: number): readonly string[] {
  const { paint, verbose, width } = screen;
  const color = severityPaint(severity, screen);
  const shown = verbose ? nodes : nodes.slice(0, most);
  const head = joined(cell(`${severitySigns[severity]} `, color), cell(policyAddress(visible(policy)), paint.bold));
  return [
    ...tableLines([[head, cell(severity, color), cell(place, paint.dim)]], "", width),
    ...wrap(message, indent, width),
    ...tableLines(
      shown.map(({ address, path, requirement, ...node }) => [
        cell(visible(address)),
        cell(path, paint.cyan),
        cell(requirement, color),
        cell(node.place, paint.dim),
      ]),
      indent,
      width,
    ),
    ...(shown.length < nodes.length ? [paint.dim(`${indent}and ${nodes.length - shown.length} more: -v shows them`)] : []),
  ];
}

export function guardLines(guard: GuardFinding, { kind }: Words, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const isLifted = guard.allowed !== undefined;
  const head = joined(isLifted ? cell("✓ ", paint.yellow) : cell("✗ ", paint.red), cell(guardText(guard, kind), paint.bold));
  return [...tableLines([[head]], "", width), ...wrap(guard.message, indent, width), ...liftLines(guard, kind, screen)];
}

/** How to lift a guard, or why it was lifted. A drift report applies nothing. */
function liftLines(finding: GuardFinding, kind: Words["kind"], screen: Screen): readonly string[] {
  if (finding.allowed !== undefined) return wrap(`Reason: ${liftReason(finding)}`, indent, screen.width);
  if (kind === "DriftReport") return [];
  return [
    ...wrap("To lift it, give a reason. It is recorded in the result.", indent, screen.width),
    ...commandLines(`--allow ${finding.guard}="reason"`, screen),
  ];
}

export function severityPaint(severity: Severity, { paint }: Screen): (text: string) => string {
  return { error: paint.red, warning: paint.yellow, info: paint.cyan }[severity];
}
