import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { appendHistory, type HistoryEntry, historyEntry, readHistory, stepsDone } from "../../drift/history.ts";
import { type NotificationInput, notify } from "../../drift/notify.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError, errorCode, ProblemsError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import type { Plan } from "../../model/plan.ts";
import type { NotifySettings } from "../../model/settings/config.ts";
import { secretKey } from "../../model/settings/secret.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { ensureStateFolder, stateFolder } from "../../records/state-folder.ts";
import type { ReportHistory } from "../../render/document.ts";
import { resolveAll } from "../account.ts";
import type { RunEnvironment } from "../session.ts";

export interface RecordReportOptions {
  /** Absolute path of the folder with earlier reports; undefined: none is kept. */
  readonly historyFolder: string | undefined;
  /** Notified if the drift changed. */
  readonly webhook: NotifySettings | undefined;
  /** Whether the report covers an address. */
  readonly covers: (address: string) => boolean;
  /** Called with what failed; the report is complete without it. */
  readonly warn: (text: string) => void;
}

/**
 * Notifies the webhook if the drift changed, adds the report to the history, and returns the history for the renderers (undefined without a folder).
 * The report must include its exit. Throws only if the run is interrupted.
 */
export async function recordReport(
  { settings }: Pick<Project, "settings">,
  report: Plan,
  options: RecordReportOptions,
  run: Pick<RunEnvironment, "env" | "signal">,
): Promise<ReportHistory | undefined> {
  const { historyFolder: folder, webhook, covers, warn } = options;
  const past = folder === undefined ? [] : await pastReports(folder, report.target, warn);
  const lastComplete = past.findLast(({ complete }) => complete);
  const done = stepsDone(lastComplete, report, covers);
  const entry = historyEntry(report);
  const lastNotified = folder === undefined ? await readLastNotified(settings) : past.at(-1)?.notified;
  const news = { report, entry, previous: lastNotified, done };
  const notified = webhook === undefined ? lastNotified : await notifyWebhook({ settings, webhook, warn }, news, run);
  if (folder === undefined) {
    if (notified !== undefined && notified !== lastNotified) await saveLastNotified(settings, notified);
    return undefined;
  }
  const kept = { ...entry, ...(notified === undefined ? {} : { notified }) };
  await appendHistory(folder, kept).catch((error: unknown) => warn(`The report could not be added to ${folder} (${errorCode(error)}).`));
  return { points: [...past, kept].map(pointOf), done };
}

/** The history in a folder; what could not be read of it is a warning. */
async function pastReports(folder: string, target: string, warn: (text: string) => void): Promise<readonly HistoryEntry[]> {
  const read = await readHistory(folder, target).catch((error: unknown) => {
    warn(`The history in ${folder} could not be read (${errorCode(error)}), so the report does not include it.`);
    return { entries: [], unread: [] };
  });
  for (const name of read.unread)
    warn(`${name} in ${folder} is not a history that this version can read, so the report does not include it.`);
  return read.entries;
}

const pointOf = ({ at, counts: { differences, exposed, manual } }: HistoryEntry): ReportHistory["points"][number] => ({
  at,
  ms: Date.parse(at),
  differences,
  exposed,
  manual,
});

type Settings = Project["settings"];

interface Notification {
  readonly settings: Settings;
  readonly webhook: NotifySettings;
  readonly warn: (text: string) => void;
}

/** Returns the fingerprint of the last notification. Errors are warnings, except for an interruption. */
async function notifyWebhook(
  { settings, webhook: { url: reference, format }, warn }: Notification,
  news: NotificationInput,
  { env, signal }: Pick<RunEnvironment, "env" | "signal">,
): Promise<string | undefined> {
  try {
    const url = (await resolveAll([reference], settings, env, signal)).get(secretKey(reference));
    if (url === undefined) return news.previous;
    const { postJson } = await import("../../service/send-request.ts");
    const notified = await notify({
      ...news,
      url,
      format,
      post: (to, body, timeoutMs) => postJson(to, body, { timeoutMs, env, signal }),
    });
    if (notified.outcome === "failed") warn(notified.warning);
    return notified.outcome === "sent" ? news.entry.fingerprint : news.previous;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DimsyncError)) throw error;
    const errors = error instanceof ProblemsError ? error.problems : [error];
    for (const { message } of errors) warn(`The webhook was not notified: ${message}`);
    return news.previous;
  }
}

const lastNotifiedFile = (target: string): string => `drift-${encodeURIComponent(target).replaceAll("*", "_")}.json`;

/** The fingerprint of the last notification, kept in `.dimsync` for runs without a history. */
async function readLastNotified({ folder, target }: Settings): Promise<string | undefined> {
  const text = await readFile(join(stateFolder(folder), lastNotifiedFile(target)), "utf8").catch(() => "{}");
  try {
    const value: unknown = parseJson(text);
    const fingerprint = isObject(value) ? own(value, "notified") : undefined;
    return typeof fingerprint === "string" ? fingerprint : undefined;
  } catch {
    return undefined;
  }
}

async function saveLastNotified({ folder: project, target }: Settings, notified: string): Promise<void> {
  const folder = await ensureStateFolder(project);
  await writeAtomic(join(folder, lastNotifiedFile(target)), `${JSON.stringify({ notified })}\n`);
}
