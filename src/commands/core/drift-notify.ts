import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NotificationInput } from "../../drift/notify.ts";
import { notify, parseNotify } from "../../drift/notify.ts";
import type { Project } from "../../manifests/project.ts";
import type { NotifySettings } from "../../model/config.ts";
import { DimsyncError, ProblemsError } from "../../model/errors.ts";
import { canonicalJson, isObject, own } from "../../model/json.ts";
import { resolveAll } from "../../operations/account.ts";
import { writeAtomic } from "../../records/atomic.ts";
import { ensureStateFolder, stateFolder } from "../../records/state-folder.ts";
import type { Context } from "../shared/context.ts";
import type { DriftFlags } from "../shared/flags.ts";

/**
 * Who is told: the flag, else what dimsync.yaml names. A report that is narrowed, or made of a snapshot, differs from the one before for no other reason,
 * so nobody is told of it without being asked for.
 */
export function webhookOf({ flags }: Context<DriftFlags>, { settings }: Project, isWhole: boolean): NotifySettings | undefined {
  if (flags.notify === false) return undefined;
  const format = flags.notifyFormat === undefined ? {} : { format: flags.notifyFormat };
  if (flags.notify !== undefined) return { url: parseNotify(flags.notify), ...format };
  return settings.notify === undefined || !isWhole ? undefined : { ...settings.notify, ...format };
}

/** Tells the webhook, if there is something new, and gives the fingerprint that it now knows. What fails is a warning, but for an interruption. */
export async function tellWebhook(
  { io }: Context,
  { settings }: Project,
  { url: reference, format }: NotifySettings,
  news: NotificationInput,
  warn: (text: string) => void,
): Promise<string | undefined> {
  try {
    const url = (await resolveAll([reference], settings, io.env, io.interrupted)).get(canonicalJson(reference));
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
    const why = error instanceof ProblemsError ? error.problems : [error];
    for (const { message } of why) warn(`The webhook was not told of the drift: ${message}`);
    return news.previous;
  }
}

const toldFile = (target: string): string => `drift-${encodeURIComponent(target).replaceAll("*", "_")}.json`;

/** The fingerprint that the webhook was last told of, as `.dimsync` has it, for runs without a history. */
export async function lastTold({ settings }: Project): Promise<string | undefined> {
  const text = await readFile(join(stateFolder(settings.folder), toldFile(settings.target)), "utf8").catch(() => "{}");
  try {
    const value: unknown = JSON.parse(text);
    const fingerprint = isObject(value) ? own(value, "notified") : undefined;
    return typeof fingerprint === "string" ? fingerprint : undefined;
  } catch {
    return undefined;
  }
}

export async function rememberTold({ settings }: Project, notified: string): Promise<void> {
  const folder = await ensureStateFolder(settings.folder);
  await writeAtomic(join(folder, toldFile(settings.target)), `${JSON.stringify({ notified })}\n`);
}
