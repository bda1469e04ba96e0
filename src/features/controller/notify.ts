import { callWebhook, jsonHeaders, notificationBody } from "../../core/drift/notify.ts";
import { driftSummary } from "../../core/drift/summary.ts";
import type { Project } from "../../core/manifests/project.ts";
import type { NotifySettings } from "../../core/model/settings/config.ts";
import { masked, secretKey } from "../../core/model/settings/secret.ts";
import { resolveAll } from "../../core/operations/account.ts";
import { visible } from "../../core/text/control-characters.ts";
import { durationText } from "../../core/text/counts.ts";
import { joinParts, moreOf } from "../../core/text/lists.ts";
import { spaced, wholePath } from "../../core/text/paths.ts";
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
  const { error, known } = found;
  const summary = known && driftSummary(known.report);
  const fingerprint = error ?? summary?.fingerprint ?? "";
  const isNews = account.notified === null ? error !== undefined || summary?.exit !== 0 : account.notified !== fingerprint;
  if (!isNews && repaired.length === 0) return;
  const send = async (): Promise<string | undefined> => {
    const url = (await resolveAll([webhook.url], settings, env, signal)).get(secretKey(webhook.url));
    if (url === undefined) return "its URL has no value";
    const format = ({ hostname }: URL) => (hostname === "hooks.slack.com" ? "slack" : webhook.format);
    const bodyFor = (to: URL): string => messageOf(target, found, { repaired, format: format(to) });
    return await callWebhook(url, (to) => ({ method: "POST", headers: jsonHeaders, body: masked(bodyFor(to)) }), { env, signal });
  };
  const failure = await send().catch((thrown: unknown) => {
    signal.throwIfAborted();
    return errorText(thrown);
  });
  if (failure === undefined) await noteNotified(database, target, fingerprint);
  else log(`The webhook was not notified: ${failure}. The next check tries again.`, { level: "warn", account: target });
}

const mostRepairs = 10;

/** The body: that of `drift`, with the failure and what was repaired. */
function messageOf(
  target: string,
  { known, error }: Found,
  { repaired, format }: { readonly repaired: readonly DoneRepair[]; readonly format: NotifySettings["format"] },
): string {
  const ofDrift = known === undefined ? "{}" : notificationBody({ report: known.report, summary: driftSummary(known.report) }, "json");
  const drift: { readonly text?: string } = JSON.parse(ofDrift);
  const more = repaired.length - mostRepairs;
  const text = [
    ...(error === undefined ? [] : [`*The check of ${plain(target)} failed*: ${plain(error)}`]),
    ...(drift.text === undefined ? [] : [drift.text]),
    ...repaired.slice(0, mostRepairs).map((one) => `• repaired: ${plain(repairText(one))}`),
    ...(more > 0 ? [`… ${moreOf(more, "repair")}`] : []),
  ].join("\n");
  if (format === "slack") return JSON.stringify({ text });
  const data = { ...drift, text, error, ...(repaired.length > 0 ? { repaired } : {}) };
  return JSON.stringify({ formatVersion: "1.0", kind: "DriftNotification", target, ...data });
}

/** "Schemas/Shop public.users.email hashed, changed by dana@example.com, readable for 12 min". */
function repairText({ address, path, actor, event, changedAt, doneAt }: DoneRepair): string {
  const long = changedAt === null ? "" : `readable for ${durationText(Date.parse(doneAt) - Date.parse(changedAt))}`;
  return joinParts([spaced(address, wholePath(path)), actor === null ? (event ?? "") : `changed by ${actor}`, long], ", ");
}

/** For the markup of Slack. */
const plain = (text: string): string =>
  visible(text).slice(0, 500).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
