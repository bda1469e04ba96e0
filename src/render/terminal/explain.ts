import { isObject, own } from "../../model/json.ts";
import type { AuditEntry } from "../../model/live.ts";
import type { Diagnostic } from "../../model/problem.ts";
import type { PlannedRequest } from "../../model/service.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";

/** The explanation of one node of one integration, with file and line. */
export interface Explanation {
  readonly address: string;
  readonly path: readonly (string | undefined)[];
  readonly said: readonly {
    readonly rule?: string;
    readonly reason?: string;
    readonly effect: "set" | "ignore" | "ignore-above" | "narrowed" | "refuse";
    readonly set: object;
    readonly wins: readonly string[];
    readonly file: string;
    readonly line?: number;
  }[];
  readonly live: object | undefined;
  readonly state: "managed" | "ignored" | "unmanaged";
  readonly outcome: object;
  readonly leftAlone: readonly string[];
  readonly changes: readonly { readonly key: string; readonly before: boolean; readonly after: boolean; readonly risk: string }[];
  readonly requests: readonly PlannedRequest[];
  /** How many changes the requests make in total. */
  readonly changesInAll: number;
  readonly absent?: string;
  readonly stoppedBy?: string;
  readonly refused: readonly Diagnostic[];
  readonly events: readonly AuditEntry[];
  /** Why the audit log can't be shown. */
  readonly eventsUnavailable?: string;
}

/**
 * The explanation of one node: what applies to it, the result, the live values, the requests, and
 * the audit log.
 */
export function explainText(one: Explanation): string {
  const name = one.path.map((part) => (/^[\p{L}\p{N}_$-]+$/u.test(part ?? "") ? part : JSON.stringify(part))).join(".");
  const row = (label: string, text: string): string => `  ${label.padEnd(10)}${visible(text)}`;
  const known = one.state === "managed" ? `managed: ${fields(one.outcome)}` : `${one.state}: it stays as it is`;
  const supposed = one.state === "managed" ? `would be managed: ${fields(one.outcome)}` : `would be ${one.state}`;
  const wanted = one.live === undefined ? supposed : known;
  return `${[
    `${visible(one.address)}   ${visible(name)}`,
    "",
    ...(one.said.length === 0 ? ["  No rule or literal entry applies to it."] : saidLines(one.said)),
    "",
    row("live", one.absent ?? fields(one.live ?? {})),
    row("outcome", wanted),
    ...(one.stoppedBy === undefined ? [] : [row("stopped", `not replicated, because ${one.stoppedBy} is or will be disabled`)]),
    ...(one.leftAlone.length === 0 ? [] : [row("ignored", `${one.leftAlone.join(" and ")}, by an ignore entry in the config`)]),
    ...one.refused.map(({ code, message, file, line }) => row("refused", `${code} ${where(file, line)}: ${message}`)),
    ...(one.changes.length === 0
      ? [row("change", "none")]
      : one.changes.map(({ key, before, after, risk }) => row("change", `${key} ${before} → ${after}   ${risk}`))),
    ...requestLines(one).map(([label, text]) => row(label, text)),
    ...eventLines(one).map((text, index) => row(index === 0 ? "events" : "", text)),
  ].join("\n")}\n`;
}

function saidLines(said: Explanation["said"]): readonly string[] {
  const rows = said.map(({ rule, effect, set, wins, file, line, reason }) => {
    const verdict = wins.length > 0 ? `decides ${wins.join(" and ")}` : effect === "set" && Object.keys(set).length > 0 ? "overridden" : "";
    return [rule ?? "literal", effectText(effect, set), verdict, where(file, line), reason ?? ""].map(visible);
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")}`.trimEnd());
}

function effectText(effect: Explanation["said"][number]["effect"], set: object): string {
  if (effect === "ignore") return "ignores it";
  if (effect === "refuse") return "refuses it, because nothing covers it";
  if (effect === "ignore-above") return "ignores a node above it";
  return effect === "narrowed" ? "does not apply (where)" : fields(set);
}

/** The requests as far as they change this node. Other changes are only counted. */
function requestLines({
  requests,
  changes,
  changesInAll,
  path,
  address,
}: Explanation): readonly (readonly [label: string, text: string])[] {
  if (requests.length === 0) return [];
  const rest = changesInAll - changes.length;
  const others = `${counted(rest, "other change")} of ${address}`;
  if (changes.length === 0) return [["request", `none for it; a plan makes ${others}`]];
  const about = requests.flatMap((request) => {
    const part = partAt(own(request.body, "schemas"), path, ["tables", "columns"]);
    return part === undefined ? [] : [{ ...request, part }];
  });
  return [
    ...about.flatMap(({ method, path: to, part }) => [
      ["request", `${method} ${to}${rest === 0 ? "" : `, here without ${others}`}`] as const,
      ["", JSON.stringify({ schemas: part })] as const,
    ]),
  ];
}

/**
 * The part of a request body that leads to one node: its ancestors with their own members, without
 * siblings.
 */
function partAt(map: unknown, [name, ...below]: Explanation["path"], [next = "", ...deeper]: readonly string[]): object | undefined {
  const entry: unknown = isObject(map) && name !== undefined ? own(map, name) : undefined;
  if (name === undefined || !isObject(entry)) return undefined;
  const scalars = Object.entries(entry).filter(([, member]) => typeof member !== "object");
  const inner = below.length === 0 ? {} : partAt(own(entry, next), below, deeper);
  if (inner === undefined) return undefined;
  return Object.fromEntries([[name, { ...Object.fromEntries(scalars), ...(Object.hasOwn(entry, next) ? { [next]: inner } : {}) }]]);
}

function eventLines({ events, eventsUnavailable }: Explanation): readonly string[] {
  if (eventsUnavailable !== undefined) return [`not available: ${eventsUnavailable}`];
  if (events.length === 0) return ["none for its schemas in the last 30 days"];
  return events.map(({ timestamp, actor, event }) => `${timestamp}   ${actor.email ?? actor.type ?? "unknown user"}   ${event}`);
}

const where = (file: string | undefined, line: number | undefined): string =>
  file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}`;

/** Scalar members in a row: "enabled: true, hashed: false". */
function fields(value: object): string {
  if (!isObject(value)) return "";
  const scalars = Object.entries(value).filter(([, member]) => typeof member !== "object" && member !== undefined);
  return scalars.length === 0 ? "nothing" : scalars.map(([key, member]) => `${key}: ${String(member)}`).join(", ");
}
