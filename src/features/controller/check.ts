import { DimsyncError } from "../../core/base/model/errors.ts";
import { refusingGuards } from "../../core/base/model/findings.ts";
import type { Plan, Result } from "../../core/base/model/plan.ts";
import { diagnosticsIn, isError, placeText } from "../../core/base/model/problem.ts";
import { type ControllerMode, isLocal } from "../../core/base/model/settings/config.ts";
import { andMore } from "../../core/base/text/lists.ts";
import { pathText, spaced } from "../../core/base/text/paths.ts";
import { differencesOf, driftSummary, isSameNode, notification } from "../../core/drift/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { applyAccount, driftAccount, postTo, type RunEnvironment, withRecords } from "../../core/operations/index.ts";
import { isOver } from "../../core/records/index.ts";
import { timeText } from "../../core/render/index.ts";
import {
  type AccountRow,
  type CheckFound,
  type FoundDifference,
  mostFindings,
  readAccount,
  repairsOf,
  storeFound,
  storeRepairs,
} from "./accounts.ts";
import { type Checkout, errorText } from "./checkout.ts";
import type { Database } from "./database.ts";
import type { Log } from "./log.ts";

export interface CheckOptions {
  readonly database: Database;
  readonly checkout: Checkout;
  readonly maxMode: ControllerMode;
  readonly run: RunEnvironment;
  readonly log: Log;
}

/**
 * Compares an account, repairs what its mode allows, stores what was found, and tells the webhook of the target if that changed. Failures are
 * part of what is stored. Rejects if the run is interrupted, or if the database cannot be used: then nothing is stored, and the account stays due.
 */
export async function checkAccount(account: AccountRow, options: CheckOptions): Promise<void> {
  const { database, checkout, run } = options;
  const log: Log = (message, level) => options.log(message, { account: account.target, ...level });
  // At once: the checkout may be loaded again meanwhile.
  const [target, commit] = [checkout.target(account.target), checkout.commit()];
  if (target === undefined) return;
  if (await checkout.isBehind(account))
    return log(
      `The checkout of this worker is older than commit ${account.commit?.slice(0, 12)}, which was checked before. It does not check this account until it is updated. To go back, revert with a new commit.`,
      { level: "warn" },
    );
  const began = performance.now();
  const { project, error: unloaded } = target;
  const failed = (error: unknown): CheckFound => {
    run.signal.throwIfAborted();
    return { error: errorText(error) };
  };
  const refused = unloaded ?? (project && database.isShared && isLocal(project.settings.records) ? localText(project) : undefined);
  const isLoaded = project !== undefined && refused === undefined;
  const found = isLoaded ? await compareAndRepair(project, account, { ...options, log }).catch(failed) : { error: refused };
  if (!(await storeFound(database, account, { ...found, commit, ms: performance.now() - began })))
    return log("Another worker has checked the account meanwhile, so this check is dropped.", { level: "warn" });
  const { exposed, differences, byHand } = found.known ?? account;
  if (found.error === undefined) log(`${exposed} exposed, ${differences} different, ${byHand} by hand.`);
  else log(found.error, { level: "error" });
  if (project !== undefined) await notify(project, found, options);
}

/** Compares, sends only what protects, within the guards and under the lease of the records, and compares again. */
async function compareAndRepair(project: Project, account: AccountRow, options: CheckOptions): Promise<CheckFound> {
  const { database, maxMode, run, log } = options;
  const compared = await compare(project, account, options);
  const { locked } = compared;
  const exposed = (compared.exposed ?? []).filter(({ isByHand }) => isByHand !== true);
  const isStopped = (finding: FoundDifference): boolean => repairsOf(account, 1).filter((one) => isSameNode(one, finding)).length >= 3;
  const [stopped, sent] = [exposed.filter(isStopped), exposed.filter((finding) => !isStopped(finding))];
  if (account.mode !== "protect" || maxMode !== "protect" || locked !== undefined) return compared;
  const error = compared.error ?? (stopped[0] && stoppedText(stopped[0]));
  const done = repairsOf(account, 7);
  // Before it is sent. If another worker has checked the account meanwhile, nothing may be sent.
  const row = sent.length === 0 ? undefined : await storeRepairs(database, { ...account, repairs: [...done, ...sent] });
  if (row === undefined) return { ...compared, error };
  log(`Repairs ${andMore(sent.map(columnOf), "change")}.`);
  // Without the database, other workers do not know what this one sends.
  const lost = new AbortController();
  const watch = setInterval(() => database.isReachable() || lost.abort(new Error("the connection to the database was lost")), 50);
  try {
    const signal = AbortSignal.any([run.signal, lost.signal]);
    const ignore = stopped.map(({ address, path }) => ({ address, path, reason: "protect stopped" }));
    const settings = { ...project.settings, ignore: [...project.settings.ignore, ...ignore] };
    const { plan, result } = await applyAccount({ ...project, settings }, { protectOnly: true }, { ...run, signal });
    const again = await compare(project, account, options);
    return { ...again, row, error: again.error ?? failureOf(plan, result) ?? error };
  } catch (failure) {
    run.signal.throwIfAborted();
    // Another run has the lease, so nothing was sent: the next check compares again.
    if (failure instanceof DimsyncError && failure.exit === 6) return { ...compared, row: { ...row, repairs: done }, error };
    return { row, error: errorText(failure) };
  } finally {
    clearInterval(watch);
  }
}

async function compare(project: Project, account: AccountRow, { checkout, run }: CheckOptions): Promise<CheckFound> {
  const { state, lease } = await withRecords(project.settings, run.env, (records) => records.content());
  const { report } = await driftAccount(project, { failOn: ["blocked"] }, { ...run, records: state });
  run.signal.throwIfAborted();
  const findings = differencesOf(report).map((one) => datedOf(one, account, checkout.commit()?.id));
  const exposed = findings.filter(({ isExposed }) => isExposed);
  const columns = new Set(exposed.map(columnOf)).size;
  const error = report.exit.code === 1 ? firstError([report], "The account could not be read completely.") : undefined;
  // What an incomplete report does not show may still be there.
  const isKnown = error === undefined || columns > account.exposed;
  const { counts } = driftSummary(report);
  const known = isKnown ? { ...counts, differences: counts.differences + counts.blocked, report, exposed: columns, findings } : undefined;
  // By the clock of the database, because that of a worker can be wrong.
  const isLocked = lease?.reason !== undefined && !isOver(lease, Date.parse(account.readAt));
  const until = lease?.until === undefined ? "it is ended" : timeText(lease.until);
  const locked = isLocked ? `${lease.reason} (since ${timeText(lease.since)}, until ${until})` : undefined;
  return { exposed: error === undefined ? exposed : undefined, known, error, locked };
}

function firstError(of: readonly Pick<Plan, "findings">[], otherwise: string): string {
  const first = of.flatMap(diagnosticsIn).find(isError);
  return spaced(`${first?.rule ?? "E_INCOMPLETE"}:`, first === undefined ? "" : placeText(first), first?.message ?? otherwise);
}

/** "Schemas/shop public.users.email". */
const columnOf = ({ address, path }: Pick<FoundDifference, "address" | "path">): string => `${address} ${pathText(path).node}`;

/** A difference that no event dates was made after the last check that did not find it. A check by other manifests shows nothing. */
function datedOf(one: FoundDifference, { findings, checkedAt, commit }: AccountRow, now: string | undefined): FoundDifference {
  if (one.at !== undefined) return one;
  const before = findings.find((other) => isSameNode(other, one));
  const isNew = before === undefined && findings.length < mostFindings && now !== undefined && now === commit;
  const after = isNew ? (checkedAt ?? undefined) : before?.after;
  return after === undefined ? one : { ...one, after };
}

const localText = ({ settings: { target } }: Project): string =>
  `E_RECORDS_REFUSED: The records of target ${target} are files of one machine, and other workers would not see them. Move them: dimsync records migrate --to git -t ${target}`;

const stoppedText = ({ address, what }: FoundDifference): string =>
  `E_PROTECT_STOPPED: ${address} ${what}, and was repaired three times in a day. It is only reported now: agree with whoever changes it, or change the manifests.`;

/** Why not everything was sent that protects. */
function failureOf(plan: Plan, result: Result): string | undefined {
  const { steps, exit } = result;
  const [refused] = refusingGuards(result);
  if (refused !== undefined) return `E_GUARD: ${refused.message}`;
  const item = steps.find(({ outcome }) => outcome === "failed" || outcome === "unknown" || outcome === "not-converged");
  if (item !== undefined) return `${item.why?.code ?? "E_INCOMPLETE"}: ${item.address}: ${item.why?.message ?? item.outcome}`;
  if (exit.code !== 1 && plan.executable) return undefined;
  return firstError([result, plan], `Nothing was sent: ${exit.reasons.join(", ")}.`);
}

/** Posts to the webhook of the target if the set of differences or the failure changed, or something was repaired; again with each check until it is accepted. */
async function notify(
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
