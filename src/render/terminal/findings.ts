import { canonicalJson } from "../../model/json.ts";
import type { Blocked, Deferred, GuardFinding, Manual, NamedObject, Plan, PolicyFinding, Unverifiable } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted, countList } from "../../text/counts.ts";
import { nameText, wholePath } from "../../text/paths.ts";
import { cutMiddle, valueLines, valueText } from "../../text/values.ts";
import type { ReportHistory } from "../document.ts";
import { attributionText, originText } from "../report/attribution.ts";
import { placeText, waitsForText } from "../report/changes.ts";
import { openFindings } from "../report/findings.ts";
import { integrationsText, unmanagedGroups } from "../report/groups.ts";
import { severityColor } from "./diagnostics.ts";
import { alignRows, cell, joined, type Screen, wrap } from "./layout.ts";

/** Waiting for something that another item of the run creates, with what it will want. */
export function deferredLines(deferred: Deferred, { paint }: Screen): readonly string[] {
  const waits = waitsForText(deferred, visible);
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
  const rows = (kind: string, objects: readonly NamedObject[]) =>
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

const mostPlaces = 20;
const severitySigns = { error: "✗", warning: "⚠", info: "i" } as const;

/**
 * The findings of one policy with one message together: what it says once, then every place, and how to lift an error unless a guard says
 * so already; without guards (a drift report) there is nothing to lift, since nothing would run.
 */
export function policyBlocks(
  findings: readonly PolicyFinding[],
  guards: readonly GuardFinding[] | undefined,
  screen: Screen,
): readonly (readonly string[])[] {
  const groups = new Map<string, [PolicyFinding, ...PolicyFinding[]]>();
  for (const finding of openFindings(findings)) {
    const key = canonicalJson([finding.policy, finding.severity, finding.message, finding.file ?? "", finding.line ?? 0]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  const { paint, verbose } = screen;
  const isLiftable = guards !== undefined && !guards.some(({ guard }) => guard === "policy");
  return [...groups.values()].map((group) => {
    const [first] = group;
    const shown = verbose ? group : group.slice(0, mostPlaces);
    const color = severityColor(first.severity, screen);
    const place = placeText(first);
    return [
      `${color(severitySigns[first.severity])} ${paint.bold(`Policy/${visible(first.policy)}`)}   ${color(first.severity)}${place === "" ? "" : paint.dim(`   ${place}`)}`,
      ...wrap(first.message, "    ", screen.width),
      ...alignRows(
        shown.map(({ address, path }) => [cell(visible(address)), cell(wholePath(path), paint.cyan)]),
        "    ",
      ),
      ...(shown.length < group.length ? [paint.dim(`    and ${group.length - shown.length} more places: -v shows them`)] : []),
      ...(first.severity === "error" && isLiftable ? liftLines("policy", screen) : []),
    ];
  });
}

export function guardLines({ guard, message, limit, actual, allowed }: GuardFinding, screen: Screen): readonly string[] {
  const { paint } = screen;
  const numbers = [actual === undefined ? "" : `${actual} found`, limit === undefined ? "" : `at most ${limit} allowed`].filter(
    (part) => part !== "",
  );
  const measure = numbers.length === 0 ? "" : `   ${numbers.join(", ")}`;
  const name = paint.bold(visible(guard));
  if (allowed !== undefined)
    return [
      `${paint.yellow("✓")} Guard ${name} lifted: ${visible(JSON.stringify(allowed))}${measure}`,
      ...wrap(message, "    ", screen.width),
    ];
  return [`${paint.red("✗")} Guard ${name} refuses${measure}`, ...wrap(message, "    ", screen.width), ...liftLines(guard, screen)];
}

function liftLines(guard: string, { paint }: Screen): readonly string[] {
  return ["    To lift it, give a reason; it is recorded in the result:", `      ${paint.cyan(`--allow ${visible(guard)}="reason"`)}`];
}
