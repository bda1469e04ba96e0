import { driftSummary, notification } from "../../core/drift/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { postTo } from "../../core/operations/index.ts";
import { type CheckFound, readAccount, repairsOf, storeRepairs } from "./accounts.ts";
import type { CheckOptions } from "./check.ts";
import { errorText } from "./checkout.ts";

/** Posts to the webhook of the target if the set of differences or the failure changed, or something was repaired; again with each check until it is accepted. */
export async function notify(
  { settings }: Project,
  { known, error }: CheckFound,
  { database, run: { env, signal }, log }: Pick<CheckOptions, "database" | "run" | "log">,
): Promise<void> {
  const { notify: webhook, target } = settings;
  const account = webhook && (await readAccount(database, target));
  if (webhook === undefined || account === undefined) return;
  const repairs = repairsOf(account, 7).filter(({ isTold }) => isTold !== true);
  const report = known?.report;
  const summary = report && driftSummary(report);
  // The first sentence of a failure says what it is. Others count tries, or repeat an id of the request.
  const fingerprint = error?.split(/(?<=\.) /u)[0] ?? summary?.fingerprint ?? "";
  const isNews = account.notified === null ? error !== undefined || summary?.exit !== 0 : account.notified !== fingerprint;
  if (!isNews && repairs.length === 0) return;
  const message = notification({ target, report, error, repairs });
  const failure = await postTo(webhook, message, { settings, env, signal }).catch((thrown: unknown) => {
    signal.throwIfAborted();
    return errorText(thrown);
  });
  const told = account.repairs.map((one) => (one.doneAt === undefined ? one : { ...one, isTold: true }));
  if (failure === undefined) await storeRepairs(database, { ...account, repairs: told, notified: fingerprint });
  else log(`The webhook was not notified: ${failure.replace(/\.$/u, "")}. The next check tries again.`, { level: "warn", account: target });
}
