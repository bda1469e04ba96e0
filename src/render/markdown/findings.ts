import type { Blocked, Deferred, GuardFinding, Manual, Plan, PolicyFinding, Unverifiable } from "../../model/plan.ts";
import type { Diagnostic } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { spaced, wholePath } from "../../text/paths.ts";
import { valueLines, valueText } from "../../text/values.ts";
import type { ReportHistory } from "../document.ts";
import { attributionText, originText } from "../report/attribution.ts";
import { placeText, waitsForText } from "../report/changes.ts";
import { openFindings } from "../report/findings.ts";
import { integrationsText, unmanagedGroups } from "../report/groups.ts";
import { type Detail, listed } from "./budget.ts";
import { code, details, fenced, htmlCode, prose } from "./escape.ts";

/** A heading and its list; nothing where the list is empty. */
function section<T>(title: string, entries: readonly T[], detail: Detail, draw: (entry: T) => string, separator = "\n"): string {
  if (entries.length === 0 || detail === "counts") return "";
  return `### ${title} (${entries.length})\n\n${listed(entries, detail, draw, separator)}`;
}

export function manualSection(manual: readonly Manual[], detail: Detail, done: ReportHistory["done"] = []): string {
  const finished = section(
    "Done by hand since the last report",
    done,
    detail,
    ({ id, address, path }) => `- [x] ${code(id)} ${spaced(code(address), path === "" ? "" : code(wholePath(path)))}`,
  );
  return [openSection(manual, detail), finished].filter((part) => part !== "").join("\n\n");
}

function openSection(manual: readonly Manual[], detail: Detail): string {
  return section("To do by hand", manual, detail, ({ id, address, path, expected, actual, instruction, origin, attribution }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const value = (of: Manual["actual"], word: string) => (of === undefined ? "" : `${word} ${code(valueText(of, name))}`);
    const values = [value(actual, "is"), value(expected, "expected")].filter((part) => part !== "").join(", ");
    const what = spaced(code(address), path === "" ? "" : code(wholePath(path)));
    const trace = [originText(origin), attributionText(attribution)].filter((part) => part !== "").join("; ");
    return `- [ ] ${code(id)} ${what}${values === "" ? "" : `: ${values}`}<br>${prose(instruction)}${trace === "" ? "" : `<br>${prose(trace)}`}`;
  });
}

export function blockedSection(blocked: readonly Blocked[], detail: Detail): string {
  return section("Blocked", blocked, detail, ({ address, code: problem, message, command }) => {
    return `- \`✗\` ${code(address)} ${code(problem)}<br>${prose(message)}${command === undefined ? "" : `<br>${code(command)}`}`;
  });
}

export function deferredSection(deferred: readonly Deferred[], detail: Detail): string {
  const head = (entry: Deferred, draw: (text: string) => string) => `${draw(entry.address)} ${waitsForText(entry, draw)}`;
  if (detail !== "full") return section("Deferred", deferred, detail, (entry) => `- \`…\` ${head(entry, code)}`);
  return section(
    "Deferred",
    deferred,
    detail,
    (entry) => details(head(entry, htmlCode), fenced(valueLines(entry.desired), "yaml")),
    "\n\n",
  );
}

export function unverifiableSection(unverifiable: readonly Unverifiable[], detail: Detail): string {
  return section("Can't be verified", unverifiable, detail, ({ address, paths, reason }) => {
    const values = detail === "full" ? paths.map((path) => code(wholePath(path))).join(", ") : counted(paths.length, "value");
    return `- \`?\` ${code(address)}: ${values} (${prose(reason)})`;
  });
}

export function unmanagedSection({ integrations, tags, columns, tables = [] }: Plan["unmanaged"], detail: Detail): string {
  const objects = [
    ...integrations.map((object) => ({ kind: "Integration", ...object })),
    ...tags.map((object) => ({ kind: "Tag", ...object })),
  ];
  const list = section("Not managed by any manifest", objects, detail, ({ kind, id, name }) => `- ${kind} ${code(name)} (${code(id)})`);
  const rest =
    columns === 0 || detail === "counts"
      ? ""
      : `${counted(columns, "column")} in managed integrations ${columns === 1 ? "is" : "are"} not covered by any rule.`;
  const groups = detail === "counts" ? [] : unmanagedGroups(tables);
  const names = listed(
    groups,
    detail,
    ({ table, columns: of, integrations: labels }) => `- ${code(table)}: ${code(of)} (${prose(integrationsText(labels))})`,
  );
  return [list, rest, names].filter((part) => part !== "").join("\n\n");
}

export function policySection(policy: readonly PolicyFinding[], detail: Detail): string {
  return section("Policies", openFindings(policy), detail, ({ policy: name, severity, address, path, message, ...place }) => {
    const where = placeText(place);
    return `- **${severity}** ${code(`Policy/${name}`)}: ${code(address)} ${code(wholePath(path))}<br>${prose(message)}${where === "" ? "" : ` (${code(where)})`}`;
  });
}

const mostGuards = 10;

/** Refusals are short and few, and never left out: what was refused and how to lift it is why the document is read. */
export function guardBlocks(guards: readonly GuardFinding[], detail: Detail): readonly string[] {
  const shown = guards.slice(0, mostGuards).map(({ guard, message, limit, actual, allowed }) => {
    const measure = [actual === undefined ? "" : `${actual} found`, limit === undefined ? "" : `at most ${limit} allowed`]
      .filter((part) => part !== "")
      .join(", ");
    const numbers = measure === "" ? "" : ` (${measure})`;
    const text = detail === "counts" || detail === "by object" ? "" : `<br>${prose(message)}`;
    if (allowed !== undefined)
      return `> [!NOTE]\n> Guard ${code(guard)} lifted${detail === "counts" ? "" : `: ${code(allowed)}`}${numbers}${text}`;
    return `> [!CAUTION]\n> **Guard ${code(guard)} refuses**${numbers}${text}<br>To lift it, give a reason: ${code(`--allow ${guard}="reason"`)}`;
  });
  return guards.length > mostGuards ? [...shown, `… and ${guards.length - mostGuards} more guards.`] : shown;
}

const severityOrder = ["error", "warning", "info"] as const;

/** Errors first; in full with the source lines. */
export function diagnosticsSection(diagnostics: readonly Diagnostic[], detail: Detail): string {
  const sorted = severityOrder.flatMap((severity) => diagnostics.filter((diagnostic) => diagnostic.severity === severity));
  return section("Diagnostics", sorted, detail, ({ severity, code: problem, summary, message, command, address, excerpt, ...place }) => {
    const where = placeText(place) || (address ?? "");
    const head = `- **${severity}** ${where === "" ? "" : `${code(where)} `}${code(problem)} ${prose(summary)}<br>${prose(message)}${command === undefined ? "" : `<br>${code(command)}`}`;
    if (excerpt === undefined || detail !== "full") return head;
    return `${head}\n\n${indented(fenced([excerpt[0].replaceAll("\t", " "), excerpt[1].replaceAll("\t", " ")], "yaml"))}\n`;
  });
}

function indented(text: string): string {
  return text.replace(/^/gmu, "  ");
}
