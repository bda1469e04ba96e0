import type { Severity } from "../model/problem.ts";
import type { Noteworthy } from "./noteworthy.ts";
import { visible, visibleLines } from "./visible.ts";

// GitHub shows so many of each severity per step, and drops the rest without a word.
const mostPerSeverity = 10;
const mostCharacters = 2_000;
const commands: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

/**
 * Annotations as workflow commands, at most ten per severity. `prefix` leads from the repository's root to the folder that files are relative to
 * ("" or "deploy/").
 */
export function annotations(entries: readonly Noteworthy[], prefix: string): readonly string[] {
  return (["error", "warning", "info"] as const).flatMap((severity) => {
    const some = entries.filter((entry) => entry.severity === severity);
    // What stands at a line is worth more than what only names an address.
    const sorted = [...some.filter(({ file }) => file !== undefined), ...some.filter(({ file }) => file === undefined)];
    return sorted.slice(0, mostPerSeverity).map((entry) => annotation(entry, prefix));
  });
}

function annotation({ rule, title, severity, message, file, line, column }: Noteworthy, prefix: string): string {
  const properties: readonly (readonly [string, string | number | undefined])[] = [
    ["title", `${visible(rule)}: ${visible(title)}`],
    ["file", file === undefined ? undefined : file.startsWith("/") ? file : `${prefix}${file}`],
    ["line", file === undefined ? undefined : line],
    ["col", file === undefined || line === undefined ? undefined : column],
  ];
  const text = visibleLines(message).join("\n");
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)} …` : text;
  return workflowCommand(
    commands[severity],
    properties.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
    cut,
  );
}

/** One line, `::name key=value,key=value::message`, escaped as GitHub's own toolkit does it. */
export function workflowCommand(name: string, properties: readonly (readonly [string, string])[], message: string): string {
  const list = properties.map(([key, value]) => `${key}=${escapedProperty(value)}`).join(",");
  return `::${name}${list === "" ? "" : ` ${list}`}::${escapedData(message)}`;
}

/** Text for the log in which no line is taken for a workflow command, whatever names it holds: the runner reads `::` at a line's beginning and `##[` anywhere. */
export function withoutCommands(text: string): string {
  return text.replace(/^(\s*):(?=:)/gmu, "$1: ").replaceAll("##[", "## [");
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
