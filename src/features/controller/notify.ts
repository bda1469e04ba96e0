import { notificationBody } from "../../core/drift/notify.ts";
import { driftSummary } from "../../core/drift/summary.ts";
import type { Project } from "../../core/manifests/project.ts";
import { postTo } from "../../core/operations/notify-drift.ts";
import { visible } from "../../core/text/control-characters.ts";
import { durationText } from "../../core/text/counts.ts";
import { joinParts } from "../../core/text/lists.ts";
import { spaced, wholePath } from "../../core/text/paths.ts";
import { type CheckFound, type Repair, readAccount, repairsOf, storeRepairs } from "./accounts.ts";
import type { CheckOptions } from "./check.ts";
import { errorText } from "./checkout.ts";

/** Posts to the webhook of the target if the set of differences or the failure changed, or something was repaired; again with each check until it is accepted. */
export async function notify(
  { settings }: Project,
  found: CheckFound,
  { database, run: { env, signal }, log }: Pick<CheckOptions, "database" | "run" | "log">,
): Promise<void> {
  const { notify: webhook, target } = settings;
  const account = webhook && (await readAccount(database, target));
  if (webhook === undefined || account === undefined) return;
  const repaired = repairsOf(account, 7).filter(({ isTold }) => isTold !== true);
  const { error, known } = found;
  const summary = known && driftSummary(known.report);
  const fingerprint = error ?? summary?.fingerprint ?? "";
  const isNews = account.notified === null ? error !== undefined || summary?.exit !== 0 : account.notified !== fingerprint;
  if (!isNews && repaired.length === 0) return;
  const bodyIn = (format: "json" | "slack"): string => messageOf(target, found, { repaired, format });
  const failure = await postTo(webhook, bodyIn, { settings, env, signal }).catch((thrown: unknown) => {
    signal.throwIfAborted();
    return errorText(thrown);
  });
  const repairs = account.repairs.map((one) => (one.doneAt === undefined ? one : { ...one, isTold: true }));
  if (failure === undefined) await storeRepairs(database, { ...account, repairs, notified: fingerprint });
  else log(`The webhook was not notified: ${failure}. The next check tries again.`, { level: "warn", account: target });
}

/** The body: that of `drift`, with the failure and what was repaired. */
function messageOf(
  target: string,
  { known, error }: CheckFound,
  { repaired, format }: { readonly repaired: ReturnType<typeof repairsOf>; readonly format: "json" | "slack" },
): string {
  const ofDrift = known === undefined ? "{}" : notificationBody({ report: known.report, summary: driftSummary(known.report) }, "json");
  const { text: driftText = "", ...drift }: { readonly text?: string } = JSON.parse(ofDrift);
  const lines = [
    error === undefined ? "" : `*The check of ${plain(target)} failed*: ${plain(error)}`,
    driftText,
    ...repaired.map((one) => `• repaired: ${plain(repairText(one))}`),
  ];
  const text = joinParts(lines, "\n");
  if (format === "slack") return JSON.stringify({ text });
  return JSON.stringify({ formatVersion: "1.0", kind: "DriftNotification", target, ...drift, text, error, repaired });
}

/** "Schemas/Shop public.users.email hashed, changed by dana@example.com, readable for 12 min". */
function repairText({ address, path, actor, event = "", at, doneAt }: Repair & { readonly doneAt: string }): string {
  const long = at === undefined ? "" : `readable for ${durationText(Date.parse(doneAt) - Date.parse(at))}`;
  return joinParts([spaced(address, wholePath(path)), actor === undefined ? event : `changed by ${actor}`, long], ", ");
}

/** For the markup of Slack. */
const plain = (text: string): string =>
  visible(text).slice(0, 500).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
