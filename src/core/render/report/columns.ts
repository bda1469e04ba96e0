import { byText } from "../../base/model/address.ts";
import { findingsOf } from "../../base/model/findings.ts";
import type { Finding, Plan } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { grouped } from "../../base/text/lists.ts";
import { wholePath } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import { code, type Entry, muted, type Section, word } from "../blocks.ts";
import { integrationOf } from "./changes.ts";
import { integrationsText } from "./unmanaged.ts";

/** The same finding in one or more integrations. */
export type ColumnGroup = readonly [Finding, ...Finding[]];

/** New columns with what the service does with them now, and columns that are gone. */
export function columnsSection(plan: Pick<Plan, "findings">): Section {
  const all = findingsOf(plan, "columns");
  const of = (rule: string): readonly Finding[] => all.filter((finding) => finding.rule === rule);
  const [added, left] = [of("new-column"), of("gone-column")];
  const addresses = new Set(all.map(({ address = "" }) => address));
  const [only = ""] = addresses;
  const list = (title: string, columns: readonly ColumnGroup[], isNew: boolean): readonly Entry[] =>
    columns.length === 0
      ? []
      : [
          {
            head: [[`${title}:`]],
            rows: columns.map((group) => [
              [code(nodeOf(group))],
              [isNew ? (group[0].severity === "warning" ? word(group[0].message, "bad") : muted(group[0].message)) : ""],
              [muted(integrationsOf(group))],
            ]),
            noun: "column",
          },
        ];
  const gone = `${counted(left.length, "reviewed column")} ${left.length === 1 ? "is" : "are"} gone`;
  return {
    id: "columns",
    title: "Columns to review",
    count: added.length,
    part: "attention",
    isPlain: true,
    isVital: true,
    entries: [
      ...list(`${counted(added.length, "new column")} (not reviewed)`, columnGroups(added), true),
      ...of("never-reviewed").map(({ message }): Entry => ({ head: [[message]] })),
      ...list(gone, columnGroups(left), false),
      ...grouped(of("gone-table"), ({ path, count }) => JSON.stringify([path, count])).map(
        (group): Entry => ({
          head: [["table", code(nodeOf(group)), `is gone (${counted(group[0].count ?? 0, "column")})`], [muted(integrationsOf(group))]],
        }),
      ),
    ],
    notes: [["To accept them after review:"]],
    command: `dimsync catalog accept ${addresses.size === 1 ? shellWord(visible(only)) : "--all"}`,
  };
}

export const nodeOf = ([{ path = "" }]: ColumnGroup): string => wholePath(path);

export const integrationsOf = (group: ColumnGroup): string => integrationsText(group.map(({ address = "" }) => integrationOf(address)));

/** The same column of several integrations as one, readable ones first. */
export const columnGroups = (columns: readonly Finding[]): readonly ColumnGroup[] =>
  [...grouped(columns, ({ path, severity, message }) => JSON.stringify([path, severity, message]))].sort(
    ([a], [b]) =>
      Number(b.severity === "warning") - Number(a.severity === "warning") || byText(wholePath(a.path ?? ""), wholePath(b.path ?? "")),
  );
