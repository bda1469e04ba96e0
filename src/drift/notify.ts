import { DimsyncError } from "../model/errors.ts";
import type { Secret, SecretReference } from "../model/secret.ts";
import { type NotificationInput, notificationBody, type WebhookFormat } from "./notification.ts";

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
