import { byText } from "../../base/model/address.ts";
import type { GoneColumn, NewColumn } from "../../base/model/columns.ts";
import type { Plan } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { grouped } from "../../base/text/lists.ts";
import { neverReviewedText } from "../../base/text/never-reviewed.ts";
import { nameText } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import { code, type Entry, muted, type Row, type Section, word } from "../blocks.ts";
import { integrationOf } from "./changes.ts";
import { integrationsText } from "./unmanaged.ts";

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

/** New columns with what the service does with them now, and columns that are gone. */
export function columnsSection(plan: Pick<Plan, "newColumns" | "goneColumns" | "neverReviewed">): Section {
  const { newColumns = [], goneColumns = [], neverReviewed = [] } = plan;
  const addresses = new Set([...newColumns, ...goneColumns, ...neverReviewed].map(({ address }) => address));
  const [only = ""] = addresses;
  const list = (title: string, columns: readonly ReportColumn[]): readonly Entry[] =>
    columns.length === 0 ? [] : [{ head: [[`${title}:`]], rows: columns.map(columnRow), noun: "column" }];
  const added = counted(newColumns.length, "new column");
  const left = goneColumns.filter(({ isTableGone }) => isTableGone !== true);
  const gone = `${counted(left.length, "reviewed column")} ${left.length === 1 ? "is" : "are"} gone`;
  return {
    id: "columns",
    title: "Columns to review",
    count: newColumns.length,
    part: "attention",
    isPlain: true,
    isVital: true,
    entries: [
      ...list(`${added} (not reviewed)`, columnsAdded(plan)),
      ...neverReviewed.map((one): Entry => ({ head: [[neverReviewedText(one)]] })),
      ...list(
        gone,
        groupsOf(left).sort((a, b) => byText(a.name, b.name)),
      ),
      ...goneTables(goneColumns),
    ],
    notes: [["To accept them after review:"]],
    command: `dimsync catalog accept ${addresses.size === 1 ? shellWord(visible(only)) : "--all"}`,
  };
}

/** "table app.parcels is gone (22 columns)", once for all integrations that had it. */
const goneTables = (columns: readonly GoneColumn[]): readonly Entry[] =>
  grouped(
    columns.filter(({ isTableGone }) => isTableGone === true),
    ({ schema, table }) => JSON.stringify([schema, table]),
  ).map((group) => {
    const [{ schema, table }] = group;
    const ofIntegrations = grouped(group, ({ address }) => address);
    const count = counted(new Set(group.map(({ column }) => column)).size, "column");
    const names = integrationsText(ofIntegrations.map(([{ address }]) => integrationOf(address)));
    return { head: [["table", code([schema, table].map(nameText).join(".")), `is gone (${count})`], [muted(names)]] };
  });

const columnRow = ({ name: of, state, label, isReadable, integrations }: ReportColumn): Row => [
  [code(of)],
  [isReadable ? word(state, "bad") : muted(state)],
  [label === "" ? "" : word(label, "warn")],
  [muted(integrationsText(integrations))],
];

/** Readable ones first. */
export const columnsAdded = ({ newColumns = [] }: Pick<Plan, "newColumns">): readonly ReportColumn[] =>
  groupsOf(newColumns).sort((a, b) => Number(b.isReadable) - Number(a.isReadable) || byText(a.name, b.name));

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
