import { muted, name, type Section, textEntries, titled, untitled } from "../../core/render/blocks.ts";
import { counted } from "../../core/text/counts.ts";

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

export function recordsSections({ target, store, place, version, holder, open, bindings }: ShownRecords): readonly Section[] {
  const facts = [
    ["target", target],
    ["store", store === "folder" ? place : `${store}: ${place}`],
    ["version", version],
    ["lease", holder ?? "free"],
  ];
  const creates = open.map(({ address, runId, at, answeredId }) => ({
    head: [[name(address)], [answeredId === undefined ? "" : `id ${answeredId}`], [`run ${runId}`], [at]],
  }));
  const ids = bindings.map(({ address, id }) => ({ head: [[name(address)], [id]] }));
  return [
    untitled("facts", textEntries(facts.filter(([, text]) => text !== ""))),
    titled(
      "open",
      open.length === 0 ? "No creates with an unknown outcome" : `${counted(open.length, "create")} with an unknown outcome`,
      creates,
    ),
    titled("bindings", bindings.length === 0 ? "No ids are recorded" : counted(bindings.length, "recorded id"), ids),
  ];
}

/** The newest writes to the records of a target, newest first, as `dimsync records show --log` prints them. */
interface ShownHistory {
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

export const historySections = ({ target, store, place, entries }: ShownHistory): readonly Section[] => [
  untitled("title", [{ head: [[`${target}: ${store}: ${place}, ${counted(entries.length, "write")}, newest first`]] }]),
  untitled(
    "writes",
    entries.map(({ version, at, runId, runUrl, subject, changes }) => ({
      head: [[at], [version.slice(0, 12)], [subject]],
      notes: [[runId === "" ? "" : `run ${runId}`, runUrl === undefined ? "" : `(${runUrl})`], ...changes.map((change) => [muted(change)])],
    })),
  ),
];
