import { createHash } from "node:crypto";
import { callWebhook, jsonHeaders, notificationBody } from "../../core/drift/notify.ts";
import { driftSummary } from "../../core/drift/summary.ts";
import type { Project } from "../../core/manifests/project.ts";
import { masked, secretKey } from "../../core/model/settings/secret.ts";
import { resolveAll } from "../../core/operations/account.ts";
import { visible } from "../../core/text/control-characters.ts";
import { durationText } from "../../core/text/counts.ts";
import { moreOf } from "../../core/text/lists.ts";
import { wholePath } from "../../core/text/paths.ts";
import { type Account, type DoneRepair, doneRepairs, type Found, noteNotified } from "./accounts.ts";
import type { CheckOptions } from "./check.ts";
import { errorText } from "./checkout.ts";

/**
 * Posts to the webhook of the target if the set of differences or the failure changed, or something was repaired. A webhook that does not
 * accept it gets it again with the next check.
 */
export async function notify(
  { settings }: Project,
  account: Account,
  found: Found,
  { database, run: { env, signal }, log }: Pick<CheckOptions, "database" | "run" | "log">,
): Promise<void> {
  const { notify: webhook, target } = settings;
  if (webhook === undefined) return;
  const repaired = (await doneRepairs(database, target)).filter(({ told }) => !told);
  const fingerprint = fingerprintOf(found);
  const isNews = account.notified === null ? found.error !== undefined || found.report?.exit.code !== 0 : account.notified !== fingerprint;
  if (!isNews && repaired.length === 0) return;
  const failure = await resolveAll([webhook.url], settings, env, signal)
    .then(async (secrets) => {
      const url = secrets.get(secretKey(webhook.url));
      if (url === undefined) return "its URL has no value";
      const requestTo = ({ hostname }: URL) => {
        const format = hostname === "hooks.slack.com" ? "slack" : (webhook.format ?? "json");
        return { method: "POST", headers: jsonHeaders, body: masked(messageOf(account, found, { repaired, format })) } as const;
      };
      return await callWebhook(url, requestTo, { env, signal });
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      return errorText(error);
    });
  if (failure === undefined) await noteNotified(database, target, fingerprint);
  else log(`The webhook was not notified: ${failure}. The next check tries again.`, { level: "warn", account: target });
}

const fingerprintOf = ({ error, report }: Found): string =>
  error === undefined && report !== undefined
    ? driftSummary(report).fingerprint
    : `failure:${createHash("sha256")
        .update(error ?? "")
        .digest("hex")}`;

const mostRepaired = 10;

interface MessageOptions {
  readonly repaired: readonly DoneRepair[];
  readonly format: "json" | "slack";
}

/** The body: that of `drift`, with the failure and what was repaired. */
function messageOf({ target }: Account, { report, error }: Found, { repaired, format }: MessageOptions): string {
  const drift: { readonly text?: string } =
    report === undefined
      ? { formatVersion: "1.0", kind: "DriftNotification", target }
      : JSON.parse(notificationBody({ report, summary: driftSummary(report) }, "json"));
  const lines = [
    ...(error === undefined ? [] : [`*The check of ${plain(target)} failed*: ${plain(error)}`]),
    ...(drift.text === undefined ? [] : [drift.text]),
    ...repaired.slice(0, mostRepaired).map((one) => `• repaired: ${plain(repairText(one))}`),
    ...(repaired.length > mostRepaired ? [`… ${moreOf(repaired.length - mostRepaired, "repair")}`] : []),
  ];
  const text = lines.join("\n");
  if (format === "slack") return JSON.stringify({ text });
  const names = repaired.map(({ address, path, actor, changedAt, doneAt }) => ({ address, path, actor, changedAt, doneAt }));
  return JSON.stringify({
    ...drift,
    text,
    ...(error === undefined ? {} : { error }),
    ...(repaired.length === 0 ? {} : { repaired: names }),
  });
}

/** "Schemas/Shop public.users.email hashed, changed by dana@example.com, readable for 12 min". */
function repairText({ address, path, actor, changedAt, doneAt }: DoneRepair): string {
  const who = actor === null ? "" : `, changed by ${actor}`;
  const long = changedAt === null ? "" : `, readable for ${durationText(Date.parse(doneAt) - Date.parse(changedAt))}`;
  return `${address} ${wholePath(path)}${who}${long}`;
}

/** For the markup of Slack. */
const plain = (text: string): string =>
  visible(text).slice(0, 500).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
