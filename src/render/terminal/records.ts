import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { cell, tableLines } from "./layout.ts";

/** The records of a target, as `dimsync records show` prints them. */
export interface ShownRecords {
  readonly target: string;
  readonly store: string;
  readonly place: string;
  /** "" for a store without versions. */
  readonly version: string;
  /** Who holds the lease, in words; undefined if it is free. */
  readonly holder: string | undefined;
  readonly open: readonly { readonly address: string; readonly runId: string; readonly at: string; readonly answeredId?: string }[];
  readonly bindings: readonly { readonly address: string; readonly id: string }[];
}

export function recordsText(records: ShownRecords, { width = 100 }: Pick<RenderOptions, "width">): string {
  const { target, store, place, version, holder, open, bindings } = records;
  const facts = [
    [cell("target"), cell(visible(target))],
    [cell("store"), cell(store === "folder" ? visible(place) : `${store}: ${visible(place)}`)],
    ...(version === "" ? [] : [[cell("version"), cell(visible(version))]]),
    [cell("lease"), cell(holder === undefined ? "free" : visible(holder))],
  ];
  const lines = [
    ...tableLines(facts, "", width),
    "",
    open.length === 0 ? "No creates with an unknown outcome." : `${counted(open.length, "create")} with an unknown outcome:`,
    ...tableLines(
      open.map(({ address, runId, at, answeredId }) => [
        cell(visible(address)),
        cell(answeredId === undefined ? "" : `id ${visible(answeredId)}`),
        cell(`run ${visible(runId)}`),
        cell(visible(at)),
      ]),
      "  ",
      width,
    ),
    "",
    bindings.length === 0 ? "No ids are recorded." : `${counted(bindings.length, "recorded id")}:`,
    ...tableLines(
      bindings.map(({ address, id }) => [cell(visible(address)), cell(visible(id))]),
      "  ",
      width,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** The newest writes to the records of a target, newest first, as `dimsync records show --log` prints them. */
export interface ShownHistory {
  readonly target: string;
  readonly store: string;
  readonly place: string;
  readonly entries: readonly {
    readonly version: string;
    /** ISO 8601 */
    readonly at: string;
    readonly runId: string;
    readonly runUrl: string | undefined;
    readonly subject: string;
    readonly changes: readonly string[];
  }[];
}

export function historyText({ target, store, place, entries }: ShownHistory, { width = 100 }: Pick<RenderOptions, "width">): string {
  const lines = entries.flatMap(({ version, at, runId, runUrl, subject, changes }) => [
    "",
    ...tableLines([[cell(visible(at)), cell(visible(version.slice(0, 12))), cell(visible(subject))]], "", width),
    ...(runId === "" ? [] : [`    run ${visible(runId)}${runUrl === undefined ? "" : ` (${visible(runUrl)})`}`]),
    ...changes.map((change) => `    ${visible(change)}`),
  ]);
  return `${[`${visible(target)}: ${store}: ${visible(place)}, ${counted(entries.length, "write")}, newest first`, ...lines].join("\n")}\n`;
}
