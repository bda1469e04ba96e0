import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { DriftFlags } from "../../cli/flags.ts";
import type { NotificationInput } from "../../drift/notify.ts";
import { notify, parseNotify } from "../../drift/notify.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError, ProblemsError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import type { NotifySettings } from "../../model/settings/config.ts";
import { secretKey } from "../../model/settings/secret.ts";
import { resolveAll } from "../../operations/account.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { ensureStateFolder, stateFolder } from "../../records/state-folder.ts";

/**
 * The webhook of the flag, else of the config. The webhook of the config is not used for a report on some manifests or on a snapshot: it differs from the
 * report before for that reason alone.
 */
export function webhookOf({ flags }: Context<DriftFlags>, { settings }: Project, isWhole: boolean): NotifySettings | undefined {
  if (flags.notify === false) return undefined;
  const format = flags.notifyFormat === undefined ? {} : { format: flags.notifyFormat };
  if (flags.notify !== undefined) return { url: parseNotify(flags.notify), ...format };
  return settings.notify === undefined || !isWhole ? undefined : { ...settings.notify, ...format };
}

/** Notifies the webhook if the drift changed, and returns the fingerprint of the last notification. Errors are warnings, except for an interruption. */
export async function notifyWebhook(
  { io }: Context,
  { settings }: Project,
  { url: reference, format }: NotifySettings,
  news: NotificationInput,
  warn: (text: string) => void,
): Promise<string | undefined> {
  try {
    const url = (await resolveAll([reference], settings, io.env, io.interrupted)).get(secretKey(reference));
    if (url === undefined) return news.previous;
    const { postJson } = await import("../../service/send-request.ts");
    const notified = await notify({
      ...news,
      url,
      format,
      post: (to, body, timeoutMs) => postJson(to, body, { timeoutMs, env: io.env, signal: io.interrupted }),
    });
    if (notified.outcome === "failed") warn(notified.warning);
    return notified.outcome === "sent" ? news.entry.fingerprint : news.previous;
  } catch (error) {
    io.interrupted.throwIfAborted();
    if (!(error instanceof DimsyncError)) throw error;
    const errors = error instanceof ProblemsError ? error.problems : [error];
    for (const { message } of errors) warn(`The webhook was not notified: ${message}`);
    return news.previous;
  }
}

const lastNotifiedFile = (target: string): string => `drift-${encodeURIComponent(target).replaceAll("*", "_")}.json`;

/** The fingerprint of the last notification, kept in `.dimsync` for runs without a history. */
export async function readLastNotified({ settings }: Project): Promise<string | undefined> {
  const text = await readFile(join(stateFolder(settings.folder), lastNotifiedFile(settings.target)), "utf8").catch(() => "{}");
  try {
    const value: unknown = JSON.parse(text);
    const fingerprint = isObject(value) ? own(value, "notified") : undefined;
    return typeof fingerprint === "string" ? fingerprint : undefined;
  } catch {
    return undefined;
  }
}

export async function saveLastNotified({ settings }: Project, notified: string): Promise<void> {
  const folder = await ensureStateFolder(settings.folder);
  await writeAtomic(join(folder, lastNotifiedFile(settings.target)), `${JSON.stringify({ notified })}\n`);
}
