import type { Blocked, Deferred, Manual, Named, Plan, Unverifiable } from "../../model/plan.ts";
import { attributionText, originText } from "../attribution-text.ts";
import { awaited } from "../awaited.ts";
import { counted, countList } from "../counts.ts";
import type { ReportHistory } from "../document.ts";
import { nameText, wholePath } from "../path-text.ts";
import { integrationsText, unmanagedGroups } from "../unmanaged-groups.ts";
import { cutMiddle, valueLines, valueText } from "../value-text.ts";
import { visible } from "../visible.ts";
import { alignRows, cell, joined } from "./rows.ts";
import type { Screen } from "./screen.ts";
import { wrap } from "./wrap.ts";

/** Waiting for something that another item of the run creates, with what it will want. */
export function deferredLines(deferred: Deferred, { paint }: Screen): readonly string[] {
  const waits = awaited(deferred, visible);
  const head = `${paint.blue("…")} ${paint.bold(visible(deferred.address))}${waits === "" ? "" : paint.dim(`   ${waits}`)}`;
  return [head, ...valueLines(deferred.desired).map((line) => `    ${line}`)];
}

export function blockedLines({ address, code, message, command }: Blocked, { paint, width }: Screen): readonly string[] {
  return [
    `${paint.red("✗")} ${paint.bold(visible(address))}   ${paint.red(visible(code))}`,
    ...wrap(message, "    ", width),
    ...(command === undefined ? [] : [`    ${paint.cyan(visible(command))}`]),
  ];
}

/** The numbered checklist of what only a person can do, and what of it was done since the report before. */
export function manualLines(
  manual: readonly Manual[],
  screen: Screen,
  isReport: boolean,
  done: ReportHistory["done"] = [],
): readonly string[] {
  const { paint, width, verbose } = screen;
  const finished =
    done.length === 0
      ? []
      : [
          paint.bold("Done by hand since the last report:"),
          ...alignRows(
            done.map(({ id, address, path }) => [
              cell(`✓ ${visible(address)}`, paint.green),
              cell(wholePath(path), paint.cyan),
              cell(visible(id), paint.dim),
            ]),
            "",
          ),
        ];
  if (manual.length === 0) return finished;
  const value = (of: Manual["actual"], path: string) => {
    const text = valueText(of ?? null, path.slice(path.lastIndexOf("/") + 1));
    return verbose ? text : cutMiddle(text, Math.max(16, Math.floor(width / 3)));
  };
  const heads = alignRows(
    manual.map(({ id, address, path, expected, actual }, index) => {
      const live = actual === undefined ? "" : `${isReport ? "live" : "is"} ${value(actual, path)}`;
      const declared = expected === undefined ? "" : `${isReport ? "declared" : "expected"} ${value(expected, path)}`;
      return [
        joined(cell(`${String(index + 1).padStart(String(manual.length).length)}. ! `, paint.magenta), cell(visible(address), paint.bold)),
        cell(wholePath(path), paint.cyan),
        cell([live, declared].filter((part) => part !== "").join(", ")),
        cell(visible(id), paint.dim),
      ];
    }),
    "",
  );
  const indent = " ".repeat(String(manual.length).length + 4);
  return [
    paint.bold("To do by hand, since no call of the interface can change it:"),
    ...manual.flatMap(({ instruction, origin, attribution }, index) => {
      const trace = [originText(origin), attributionText(attribution)].filter((part) => part !== "").join("; ");
      return [heads[index] ?? "", ...wrap(instruction, indent, width), ...(trace === "" ? [] : [`${indent}${paint.dim(trace)}`])];
    }),
    ...(finished.length === 0 ? [] : ["", ...finished]),
  ];
}

export function unverifiableLines(unverifiable: readonly Unverifiable[], { paint, verbose }: Screen): readonly string[] {
  return unverifiable.flatMap(({ address, paths, reason }) => {
    const head = `${paint.yellow("?")} ${visible(address)}   ${paint.dim(`${counted(paths.length, "value")} can't be verified: ${visible(reason)}`)}`;
    return verbose ? [head, ...paths.map((path) => paint.dim(`    ${wholePath(path)}`))] : [head];
  });
}

/** What no manifest covers, counted, and named where asked for. */
export function unmanagedLines(
  { integrations, tags, columns, tables }: Plan["unmanaged"],
  { paint, verbose }: Screen,
  withNames: boolean,
): readonly string[] {
  const counts = countList([
    [integrations.length, integrations.length === 1 ? "integration" : "integrations"],
    [tags.length, tags.length === 1 ? "tag" : "tags"],
    [columns, columns === 1 ? "column" : "columns"],
  ]);
  if (counts === "" && (tables ?? []).length === 0) return [];
  const rows = (kind: string, objects: readonly Named[]) =>
    objects.map(({ id, name }) => [cell(kind), cell(nameText(name)), cell(visible(id))]);
  const names = withNames ? alignRows([...rows("Integration", integrations), ...rows("Tag", tags)], "    ").map(paint.dim) : [];
  const hint = columns > 0 && tables === undefined ? paint.dim(" (--list-unmanaged names them)") : "";
  const where = unmanagedGroups(tables ?? []).map(({ table, columns: of, integrations: labels }) => [
    cell(table),
    cell(integrationsText(labels, verbose), paint.dim),
    cell(of),
  ]);
  return [`Not managed by any manifest: ${counts || "nothing that is known"}${hint}.`, ...names, ...alignRows(where, "    ")];
}
