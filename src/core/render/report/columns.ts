import { byText } from "../../base/model/address.ts";
import type { Finding } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { grouped } from "../../base/text/lists.ts";
import { wholePath } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import { code, type Entry, muted, type Span, word } from "../blocks.ts";
import { integrationOf } from "./change-rows.ts";
import { integrationsText } from "./unmanaged.ts";

/** The same finding in one or more integrations. */
export type ColumnGroup = readonly [Finding, ...Finding[]];

/** New columns with what the service does with them now, and columns that are gone. */
export function columnEntries(all: readonly Finding[]): readonly Entry[] {
  const of = (rule: string): readonly Finding[] => all.filter((finding) => finding.rule === rule);
  const [added, left] = [of("new-column"), of("gone-column")];
  const list = (title: string, columns: readonly Finding[], state: (one: Finding) => Span): readonly Entry[] => {
    const rows = columnGroups(columns).map((group) => [[code(nodeOf(group))], [state(group[0])], [muted(integrationsOf(group))]]);
    return rows.length === 0 ? [] : [{ head: [[`${title}:`]], rows, noun: "column" }];
  };
  return [
    ...list(`${counted(added.length, "new column")} (not reviewed)`, added, ({ severity, message }) =>
      severity === "warning" ? word(message, "bad") : muted(message),
    ),
    ...of("never-reviewed").map(({ message }): Entry => ({ head: [[message]] })),
    ...list(`${counted(left.length, "reviewed column")} ${left.length === 1 ? "is" : "are"} gone`, left, () => ""),
    ...grouped(of("gone-table"), ({ path, count }) => JSON.stringify([path, count])).map(
      (group): Entry => ({
        head: [["table", code(nodeOf(group)), `is gone (${counted(group[0].count ?? 0, "column")})`], [muted(integrationsOf(group))]],
      }),
    ),
  ];
}

export function reviewCommand(all: readonly Finding[]): string {
  const [only = "", ...others] = new Set(all.map(({ address = "" }) => address));
  return `dimsync catalog accept ${others.length === 0 ? shellWord(visible(only)) : "--all"}`;
}

export const nodeOf = ([{ path = "" }]: ColumnGroup): string => wholePath(path);

export const integrationsOf = (group: ColumnGroup): string => integrationsText(group.map(({ address = "" }) => integrationOf(address)));

/** The same column of several integrations as one, readable ones first. */
export const columnGroups = (columns: readonly Finding[]): readonly ColumnGroup[] =>
  [...grouped(columns, ({ path, severity, message }) => JSON.stringify([path, severity, message]))].sort(
    ([a], [b]) =>
      Number(b.severity === "warning") - Number(a.severity === "warning") || byText(wholePath(a.path ?? ""), wholePath(b.path ?? "")),
  );
