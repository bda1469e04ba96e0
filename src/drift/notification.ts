import type { Change, Manual, Plan } from "../model/plan.ts";
import { fromPointer } from "../model/pointer.ts";
import type { HistoryEntry, OpenStep } from "./history.ts";

export type WebhookFormat = "slack" | "json";

export interface NotificationInput {
  readonly report: Plan;
  readonly entry: HistoryEntry;
  /** The fingerprint of the report before; absent where there was none. */
  readonly previous?: string | undefined;
  /** Manual steps that were done since. */
  readonly done: readonly OpenStep[];
}

const mostLines = 10;
const mostSteps = 50;

/** The body to post: `text` for people in the markup of Slack, and in the "json" format the same as data. It holds no value of the account. */
export function notificationBody(input: NotificationInput, format: WebhookFormat): string {
  const text = slackText(input);
  if (format === "slack") return JSON.stringify({ text });
  const { report, entry, previous, done } = input;
  const { at, target, fingerprint, counts, origins, exit, manual } = entry;
  return JSON.stringify({
    formatVersion: "1.0",
    kind: "DriftNotification",
    text,
    at,
    target,
    account: report.account,
    fingerprint,
    ...(previous === undefined ? {} : { previousFingerprint: previous }),
    exit,
    counts,
    origins,
    manual: manual.slice(0, mostSteps),
    done: done.slice(0, mostSteps),
  });
}

function slackText({ report, entry: { counts, exit }, done }: NotificationInput): string {
  const lines = linesOf(report);
  const finished = done.map(({ id, address, path }) => `:white_check_mark: done: ${code(`${address}${spoken(path)}`)} (${plain(id)})`);
  const rest = lines.length - mostLines;
  return [
    `*${!report.complete ? "Incomplete drift report" : exit === 0 ? "No drift" : "Drift"} in ${plain(report.target)}* (${plain(report.account)})`,
    `${counts.differences} differences, ${counts.exposed} of them exposed; ${counts.manual} to do by hand; ${counts.policy} policy findings`,
    ...lines.slice(0, mostLines),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...finished.slice(0, mostLines),
  ].join("\n");
}

/** What exposes first, then the rest of what a call can repair, then what a person must. */
function linesOf(report: Plan): readonly string[] {
  const changes = report.items.flatMap(({ address, action, changes: all }) =>
    action === "bind" ? [] : all.map((change) => ({ address, change, isExposed: change.risk === "protects" })),
  );
  const sorted = [...changes.filter(({ isExposed }) => isExposed), ...changes.filter(({ isExposed }) => !isExposed)];
  return [
    ...sorted.map(
      ({ address, change, isExposed }) => `• ${isExposed ? ":warning: " : ""}${code(`${address}${spoken(change.path)}`)}${by(change)}`,
    ),
    ...report.manual.map((step) => `• by hand: ${code(`${step.address}${spoken(step.path)}`)}${by(step)}`),
  ];
}

function by({ origin, attribution }: Pick<Change | Manual, "origin" | "attribution">): string {
  const who =
    attribution === undefined ? "" : attribution.own ? "a run of dimsync" : (attribution.actor ?? "someone without an e-mail address");
  const sure = attribution === undefined || attribution.confidence === "exact" ? "" : `, ${attribution.confidence}`;
  const parts = [origin === undefined || origin === "unknown" ? "" : origin, who === "" ? "" : `${plain(who)}${sure}`].filter(
    (part) => part !== "",
  );
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

/** " public.users.email hashed" of a pointer, near enough for a message. */
function spoken(path: string): string {
  const segments = fromPointer(path);
  const names =
    segments[0] === "schemas" ? segments.slice(1).filter((_, index) => index % 2 === 0 || index === segments.length - 2) : segments;
  return names.length === 0 ? "" : ` ${names.join(".")}`;
}

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const plain = (text: string): string =>
  text.slice(0, 200).replaceAll(unseen, "?").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const code = (text: string): string => `\`${plain(text).replaceAll("`", "'")}\``;
