import { isObject } from "../../model/json.ts";
import type { AuditEntry } from "../../model/live.ts";
import type { Diagnostic } from "../../model/problem.ts";
import type { PlannedRequest } from "../../model/service.ts";
import { visible } from "../visible.ts";

/** What `explain` knows of one node of one integration, places looked up. */
export interface Explanation {
  readonly address: string;
  readonly path: readonly (string | undefined)[];
  readonly said: readonly {
    readonly rule?: string;
    readonly reason?: string;
    readonly effect: "set" | "ignore" | "ignore-above" | "narrowed";
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
  readonly refused: readonly Diagnostic[];
  readonly events: readonly AuditEntry[];
  /** Why the audit log can't be shown. */
  readonly eventsUnavailable?: string;
}

/** The chain of one node: who spoke, what came of it, what is live, what would be sent, and what the audit log says. */
export function explainText(one: Explanation): string {
  const name = one.path.map((part) => (/^[\p{L}\p{N}_$-]+$/u.test(part ?? "") ? part : JSON.stringify(part))).join(".");
  const row = (label: string, text: string): string => `  ${label.padEnd(10)}${visible(text)}`;
  const wanted = one.state === "managed" ? `managed: ${fields(one.outcome)}` : one.state;
  return `${[
    `${visible(one.address)}   ${visible(name)}`,
    "",
    ...(one.said.length === 0 ? ["  No rule and no literal speaks of it."] : saidLines(one.said)),
    "",
    row("live", one.live === undefined ? "not in the account, or its columns are unknown" : fields(one.live)),
    row("outcome", wanted),
    ...(one.leftAlone.length === 0 ? [] : [row("ignored", `${one.leftAlone.join(" and ")}, by an ignore entry of the config`)]),
    ...one.refused.map(({ code, message, file, line }) => row("refused", `${code} ${where(file, line)}: ${message}`)),
    ...(one.changes.length === 0
      ? [row("change", "none")]
      : one.changes.map(({ key, before, after, risk }) => row("change", `${key} ${before} → ${after}   ${risk}`))),
    ...one.requests.flatMap(({ method, path, body }) => [row("request", `${method} ${path}`), row("", JSON.stringify(body))]),
    ...eventLines(one).map((text, index) => row(index === 0 ? "events" : "", text)),
  ].join("\n")}\n`;
}

function saidLines(said: Explanation["said"]): readonly string[] {
  const rows = said.map(({ rule, effect, set, wins, file, line, reason }) => {
    const verdict = wins.length > 0 ? `decides ${wins.join(" and ")}` : effect === "set" ? "overruled" : "";
    return [rule ?? "literal", effectText(effect, set), verdict, where(file, line), reason ?? ""].map(visible);
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")}`.trimEnd());
}

function effectText(effect: Explanation["said"][number]["effect"], set: object): string {
  if (effect === "ignore") return "ignores it";
  if (effect === "ignore-above") return "ignores a node above it";
  return effect === "narrowed" ? "does not apply (where)" : fields(set);
}

function eventLines({ events, eventsUnavailable }: Explanation): readonly string[] {
  if (eventsUnavailable !== undefined) return [`not available: ${eventsUnavailable}`];
  if (events.length === 0) return ["none about its schemas in the last 30 days"];
  return events.map(({ timestamp, actor, event }) => `${timestamp}   ${actor.email ?? actor.type ?? "somebody"}   ${event}`);
}

const where = (file: string | undefined, line: number | undefined): string =>
  file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}`;

/** Scalar members in a row: "enabled: true, hashed: false". */
function fields(value: object): string {
  if (!isObject(value)) return "";
  const scalars = Object.entries(value).filter(([, member]) => typeof member !== "object" && member !== undefined);
  return scalars.length === 0 ? "nothing" : scalars.map(([key, member]) => `${key}: ${String(member)}`).join(", ");
}
