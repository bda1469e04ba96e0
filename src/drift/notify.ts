import { DimsyncError } from "../model/errors.ts";
import type { Change, Manual, Plan } from "../model/plan.ts";
import { fromPointer } from "../model/pointer.ts";
import type { Secret, SecretReference } from "../model/secret.ts";
import type { HistoryEntry, OpenStep } from "./history.ts";

export interface NotifyOptions extends NotificationInput {
  /** Where to post. It opens a channel to whoever has it, so it is never shown, nor any part of it. */
  readonly url: Secret;
  /** Sends the body, once, without following redirects. `failure` is a code that says nothing of the URL. */
  readonly post: (url: URL, body: string, timeoutMs: number) => Promise<{ readonly status: number } | { readonly failure: string }>;
  /** "json" also has `text`, which Slack-compatible receivers show; "slack" has nothing but `text`, and is what hooks.slack.com gets. */
  readonly format?: WebhookFormat | undefined;
  /** 10 s where absent. */
  readonly timeoutMs?: number | undefined;
}

/** What became of it: a warning is a sentence for stderr and changes no exit code. */
export type Notified =
  | { readonly outcome: "sent" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "failed"; readonly warning: string };

/**
 * Posts the report to the webhook where its fingerprint differs from the previous one; without a previous one, where there is drift. Never
 * throws by itself, only what `post` throws. https only, http on loopback; redirects are not followed.
 */
export async function notify(options: NotifyOptions): Promise<Notified> {
  const { entry, previous } = options;
  if (previous === undefined ? entry.exit === 0 : previous === entry.fingerprint) return { outcome: "unchanged" };
  const url = webhookUrl(options.url.reveal());
  if (typeof url === "string") return failed(url);
  const format = url.hostname === "hooks.slack.com" ? "slack" : (options.format ?? "json");
  const answer = await options.post(url, notificationBody(options, format), options.timeoutMs ?? 10_000);
  if ("failure" in answer) return failed(`it could not be reached (${answer.failure})`);
  if (answer.status >= 300 && answer.status < 400)
    return failed(`it answered ${answer.status}, a redirect, which is not followed; give the final address`);
  return answer.status >= 200 && answer.status < 300 ? { outcome: "sent" } : failed(`it answered ${answer.status}`);
}

const failed = (why: string): Notified => ({
  outcome: "failed",
  warning: `The webhook was not told of the drift: ${why}. The report is complete all the same, and the next run tries again.`,
});

/** The URL, or why it can't be used. */
function webhookUrl(value: unknown): URL | string {
  const text = typeof value === "string" ? value.trim() : "";
  if (!URL.canParse(text)) return "its secret holds no URL";
  const url = new URL(text);
  const isLoopback = url.hostname === "localhost" || url.hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/u.test(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback)
    ? url
    : "its URL must begin with https:// (http is for loopback only)";
}

/** `--notify env:NAME` or `file:PATH`: where the URL is, never the URL. Throws E_USAGE, without repeating what may be one. */
export function parseNotify(text: string): SecretReference {
  const [, source, name = ""] = /^(env|file):(.+)$/su.exec(text) ?? [];
  if (source === "env" && /^[A-Za-z_]\w*$/u.test(name)) return { $secret: { env: name } };
  if (source === "file") return { $secret: { file: name } };
  throw new DimsyncError(
    "E_USAGE",
    "--notify takes env:NAME or file:PATH, the place where the webhook's URL is kept. The URL itself is a secret: in an argument, every user of this machine and the CI log could read it.",
  );
}

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
function notificationBody(input: NotificationInput, format: WebhookFormat): string {
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
    action === "bind" ? [] : all.map((change) => ({ address, change, isExposed: change.risk === "exposed" })),
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
  const isKnown = attribution !== undefined && !attribution.own;
  const who = isKnown ? (attribution.actor ?? "a user without an e-mail address") : "";
  const sure = isKnown && attribution.confidence !== "exact" ? `, ${attribution.confidence}` : "";
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
