import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DimsyncError, ProblemsError } from "../base/model/errors.ts";
import { memberAt } from "../base/model/json/json.ts";
import { parseJson } from "../base/model/json/parse.ts";
import type { Plan } from "../base/model/plan.ts";
import type { NotifySettings } from "../base/model/settings/config.ts";
import { masked, secretKey } from "../base/model/settings/secret.ts";
import type { Notification as Message } from "../drift/index.ts";
import { callWebhook, driftSummary, jsonHeaders, notification, notificationBody } from "../drift/index.ts";
import type { Project } from "../manifests/index.ts";
import { ensureStateFolder, stateFolder, writeAtomic } from "../records/index.ts";
import { resolveAll } from "./account.ts";
import type { RunEnvironment } from "./run.ts";

interface Notification {
  readonly webhook: NotifySettings;
  /** Called with what failed; the report is complete without it. */
  readonly warn: (text: string) => void;
}

/**
 * Posts the report to the webhook if the drift changed since the last notification; without one, if there is drift. The report must include its exit. Throws only if the run
 * is interrupted.
 */
export async function notifyDrift(
  { settings }: Pick<Project, "settings">,
  report: Plan,
  { webhook, warn }: Notification,
  { env, signal }: Pick<RunEnvironment, "env" | "signal">,
): Promise<void> {
  try {
    const [summary, previous] = [driftSummary(report), await readLastNotified(settings)];
    if (previous === undefined ? summary.exit === 0 : previous === summary.fingerprint) return;
    const failure = await postTo(webhook, notification({ target: report.target, report, previous }), { settings, env, signal });
    if (failure === undefined) await saveLastNotified(settings, summary.fingerprint);
    else warn(`The webhook was not notified: ${failure}. The report is complete, and the next run tries again.`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DimsyncError)) throw error;
    const errors = error instanceof ProblemsError ? error.problems : [error];
    for (const { message } of errors) warn(`The webhook was not notified: ${message}`);
  }
}

/** Posts to a webhook once. Returns why it was not accepted, as a clause; undefined if it was. Throws as `resolveAll` and `callWebhook` do. */
export async function postTo(
  { url: reference, format = "json" }: NotifySettings,
  message: Message,
  { settings, env, signal }: Pick<Project, "settings"> & Pick<RunEnvironment, "env" | "signal">,
): Promise<string | undefined> {
  const url = (await resolveAll([reference], settings, env, signal)).get(secretKey(reference));
  if (url === undefined) return "its URL has no value";
  const bodyFor = ({ hostname }: URL): string => masked(notificationBody(message, hostname === "hooks.slack.com" ? "slack" : format));
  return await callWebhook(url, (to) => ({ method: "POST", headers: jsonHeaders, body: bodyFor(to) }), { env, signal });
}

type Settings = Project["settings"];

const lastNotifiedFile = (target: string): string => `drift-${encodeURIComponent(target).replaceAll("*", "_")}.json`;

/** The fingerprint of the last notification, which is kept in `.dimsync`. */
async function readLastNotified({ folder, target }: Settings): Promise<string | undefined> {
  const text = await readFile(join(stateFolder(folder), lastNotifiedFile(target)), "utf8").catch(() => "{}");
  try {
    const value: unknown = parseJson(text);
    const fingerprint = memberAt(value, "notified");
    return typeof fingerprint === "string" ? fingerprint : undefined;
  } catch {
    return undefined;
  }
}

async function saveLastNotified({ folder: project, target }: Settings, notified: string): Promise<void> {
  const folder = await ensureStateFolder(project);
  await writeAtomic(join(folder, lastNotifiedFile(target)), `${JSON.stringify({ notified })}\n`);
}
