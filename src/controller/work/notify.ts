import { type HistoryEntry, historyEntry } from "../../drift/history.ts";
import { type Notified, notify, postNotification } from "../../drift/notify.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ControllerEvent, Settings } from "../../model/settings/config.ts";
import { secretKey } from "../../model/settings/secret.ts";
import { resolveAll } from "../../operations/account.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import type { Database } from "../../records/postgres/connection.ts";
import type { RunOutcome } from "./check.ts";
import type { ClaimedAccount } from "./claim.ts";

type Before = Pick<ClaimedAccount, "outcome" | "failed_runs" | "notified">;

/** What happened to the account with this run; undefined if there is no news. `entry`: of its report. */
export function eventOf(before: Before, outcome: RunOutcome, entry: HistoryEntry | undefined): ControllerEvent | undefined {
  if (outcome.error !== undefined) return before.failed_runs === 0 ? "failed" : undefined;
  if (entry === undefined) return undefined;
  const wasBad = before.failed_runs > 0 || before.outcome === "exposed" || before.outcome === "drifted";
  if (outcome.exit.code === 0) return wasBad ? "resolved" : undefined;
  if (entry.fingerprint === before.notified) return undefined;
  return entry.counts.exposed > 0 || outcome.exit.code === 3 ? "exposed" : "drifted";
}

export interface News {
  readonly account: ClaimedAccount;
  readonly project: Project | undefined;
  readonly outcome: RunOutcome;
}

/** Posts the news of a run to the target's webhook, if its config asks for it. Failures are logged and counted; they never fail the run. */
export async function notifyOf(
  database: Database,
  { account, project, outcome }: News,
  { log, run }: { readonly log: (text: string) => void; readonly run: RunEnvironment },
): Promise<void> {
  const settings = project?.settings;
  const webhook = settings?.controller?.notify;
  const entry = outcome.report === undefined ? undefined : historyEntry(outcome.report);
  const event = eventOf(account, outcome, entry);
  if (settings === undefined || webhook === undefined || event === undefined || !webhook.on.includes(event)) return;
  const notified = await post(settings, { event, outcome, entry, previous: account.notified ?? undefined }, run);
  if (notified.outcome === "failed") log(`${account.target}: ${notified.warning}`);
  await database
    .query(
      `with stored as (update dimsync_controller.account set notified = coalesce($2, notified) where id = $1)
        insert into dimsync_controller.counter as c (name, label, value) values ('notifications', $3, 1)
        on conflict (name, label) do update set value = c.value + 1`,
      [account.id, notified.outcome === "failed" ? null : (entry?.fingerprint ?? null), notified.outcome === "failed" ? "failed" : "sent"],
    )
    // If this fails, the notification is sent again, which is better than losing the run.
    .catch(() => undefined);
}

interface Notification {
  readonly event: ControllerEvent;
  readonly outcome: RunOutcome;
  readonly entry: HistoryEntry | undefined;
  readonly previous: string | undefined;
}

async function post(settings: Settings, { event, outcome, entry, previous }: Notification, run: RunEnvironment): Promise<Notified> {
  const reference = settings.controller?.notify?.url;
  try {
    if (reference === undefined) return { outcome: "unchanged" };
    const url = (await resolveAll([reference], settings, run.env, run.signal)).get(secretKey(reference));
    if (url === undefined) return { outcome: "unchanged" };
    const { postJson } = await import("../../service/send-request.ts");
    const options = {
      url,
      format: settings.controller?.notify?.format,
      post: (to: URL, body: string, timeoutMs: number) => postJson(to, body, { timeoutMs, env: run.env, signal: run.signal }),
    };
    const { report, error } = outcome;
    // A change back to what was posted before is news too.
    if (event !== "failed" && report !== undefined && entry !== undefined)
      return await notify({ ...options, report, entry, previous: previous === entry.fingerprint ? undefined : (previous ?? ""), done: [] });
    const text = `Check of ${settings.target} failed: ${error?.code ?? ""}: ${error?.message ?? ""}`;
    const data = {
      formatVersion: "1.0",
      kind: "ControllerNotification",
      text,
      at: new Date().toISOString(),
      target: settings.target,
      event,
      error,
    };
    return await postNotification(options, (format) => JSON.stringify(format === "slack" ? { text } : data));
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof DimsyncError)) throw error;
    return { outcome: "failed", warning: `The webhook was not notified: ${error.message}` };
  }
}
