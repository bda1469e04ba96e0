import { byText } from "../../model/address.ts";
import type { GoneColumn, NewColumn } from "../../model/columns.ts";
import type { Plan } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { grouped, joinParts } from "../../text/lists.ts";
import { neverReviewedText } from "../../text/never-reviewed.ts";
import { nameText } from "../../text/paths.ts";
import { shellWord } from "../../text/shell.ts";
import { integrationOf } from "./changes/rules.ts";

/** Columns that nobody has reviewed, and reviewed ones that are gone. */
export interface ReportColumns {
  /** "3 new columns since 2026-11-03"; "" if there are none. */
  readonly title: string;
  /** How many there are in all integrations. */
  readonly count: number;
  /** Readable ones first. */
  readonly added: readonly ReportColumn[];
  /** "1 column is gone"; "" if there are none. */
  readonly goneTitle: string;
  readonly gone: readonly ReportColumn[];
  /** "Integration Payroll (int-31): 912 columns, never reviewed" */
  readonly neverReviewed: readonly string[];
  /** What accepts all of them; "" if there are none. */
  readonly command: string;
}

/** Columns with the same name and state, of one or more integrations. */
export interface ReportColumn {
  /** "public.customers.email"; without control characters. */
  readonly name: string;
  /** "replicated, unhashed"; "" for a gone column. */
  readonly state: string;
  /** "pii"; "" without a label. */
  readonly label: string;
  /** Whether the service replicates readable values. */
  readonly isReadable: boolean;
  readonly integrations: readonly string[];
  /** Of the first integration. */
  readonly address: string;
}

export function columnsOf({
  newColumns = [],
  goneColumns = [],
  neverReviewed = [],
}: Pick<Plan, "newColumns" | "goneColumns" | "neverReviewed">): ReportColumns {
  const addresses = new Set([...newColumns, ...goneColumns, ...neverReviewed].map(({ address }) => address));
  const [only = ""] = addresses;
  return {
    title: newColumns.length === 0 ? "" : joinParts([counted(newColumns.length, "new column"), sinceText(newColumns)], " "),
    count: newColumns.length,
    added: groupsOf(newColumns).sort((a, b) => Number(b.isReadable) - Number(a.isReadable) || byText(a.name, b.name)),
    goneTitle:
      goneColumns.length === 0 ? "" : `${counted(goneColumns.length, "reviewed column")} ${goneColumns.length === 1 ? "is" : "are"} gone`,
    gone: groupsOf(goneColumns).sort((a, b) => byText(a.name, b.name)),
    neverReviewed: neverReviewed.map(neverReviewedText),
    command: addresses.size === 0 ? "" : `dimsync catalog accept ${addresses.size === 1 ? shellWord(visible(only)) : "--all"}`,
  };
}

/** What to do about new columns. */
export const acceptNote = "To accept them after review:";

/** The day since which all of them were added; "" if it is not known for all. */
function sinceText(columns: readonly NewColumn[]): string {
  const times = columns.map(({ since }) => since);
  if (times.includes(undefined)) return "";
  const [first = ""] = times.filter((time) => time !== undefined).sort(byText);
  return `since ${visible(first.slice(0, 10))}`;
}

const groupsOf = (columns: readonly (GoneColumn & Partial<NewColumn>)[]): ReportColumn[] =>
  grouped(columns, ({ schema, table, column, label, replicated, hashed }) =>
    JSON.stringify([schema, table, column, label, replicated, hashed]),
  ).map((group): ReportColumn => {
    const [{ address, schema, table, column, label = "", replicated, hashed }] = group;
    return {
      name: [schema, table, column].map(nameText).join("."),
      state: replicated === undefined ? "" : !replicated ? "not replicated" : `replicated, ${hashed === true ? "hashed" : "unhashed"}`,
      label: visible(label),
      isReadable: replicated === true && hashed !== true,
      integrations: group.map((one) => integrationOf(one.address)),
      address,
    };
  });
