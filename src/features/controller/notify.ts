import { callWebhook, jsonHeaders, notificationBody } from "../../core/drift/notify.ts";
import { driftSummary } from "../../core/drift/summary.ts";
import type { Project } from "../../core/manifests/project.ts";
import { masked, secretKey } from "../../core/model/settings/secret.ts";
import { resolveAll } from "../../core/operations/account.ts";
import { visible } from "../../core/text/control-characters.ts";
import { durationText } from "../../core/text/counts.ts";
import { wholePath } from "../../core/text/paths.ts";
import { type Account, type DoneRepair, doneRepairs, type Found, noteNotified } from "./accounts.ts";
import type { CheckOptions } from "./check.ts";
import { errorText } from "./checkout.ts";

/** Posts to the webhook of the target if the set of differences or the failure changed, or something was repaired; again with each check until it is accepted. */
export async function notify(
  { settings }: Project,
  account: Account,
  found: Found,
  { database, run: { env, signal }, log }: Pick<CheckOptions, "database" | "run" | "log">,
): Promise<void> {
  const { notify: webhook, target } = settings;
  if (webhook === undefined) return;
  const repaired = (await doneRepairs(database, target)).filter(({ told }) => !told);
  const { error, report } = found;
  const fingerprint = error ?? (report === undefined ? "" : driftSummary(report).fingerprint);
  const isNews = account.notified === null ? error !== undefined || report?.exit.code !== 0 : account.notified !== fingerprint;
  if (!isNews && repaired.length === 0) return;
  const send = async (): Promise<string | undefined> => {
    const url = (await resolveAll([webhook.url], settings, env, signal)).get(secretKey(webhook.url));
    if (url === undefined) return "its URL has no value";
    const bodyFor = ({ hostname }: URL) =>
      messageOf(target, found, { repaired, isSlack: hostname === "hooks.slack.com" || webhook.format === "slack" });
    return await callWebhook(url, (to) => ({ method: "POST", headers: jsonHeaders, body: masked(bodyFor(to)) }), { env, signal });
  };
  const failure = await send().catch((thrown: unknown) => {
    signal.throwIfAborted();
    return errorText(thrown);
  });
  if (failure === undefined) await noteNotified(database, target, fingerprint);
  else log(`The webhook was not notified: ${failure}. The next check tries again.`, { level: "warn", account: target });
}

interface MessageOptions {
  readonly repaired: readonly DoneRepair[];
  readonly isSlack: boolean;
}

/** The body: that of `drift`, with the failure and what was repaired. */
function messageOf(target: string, { report, error }: Found, { repaired, isSlack }: MessageOptions): string {
  const ofDrift = report === undefined ? "{}" : notificationBody({ report, summary: driftSummary(report) }, "json");
  const drift: { readonly text?: string } = JSON.parse(ofDrift);
  const text = [
    ...(error === undefined ? [] : [`*The check of ${plain(target)} failed*: ${plain(error)}`]),
    ...(drift.text ?? "").split("\n"),
    ...repaired.slice(0, 10).map((one) => `• repaired: ${plain(repairText(one))}`),
    ...(repaired.length > 10 ? [`… and ${repaired.length - 10} more repairs`] : []),
  ].join("\n");
  const all = {
    formatVersion: "1.0",
    kind: "DriftNotification",
    target,
    ...drift,
    text,
    error,
    repaired: repaired.length === 0 ? undefined : repaired,
  };
  return JSON.stringify(isSlack ? { text } : all);
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
