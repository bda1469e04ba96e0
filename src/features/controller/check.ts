import { performance } from "node:perf_hooks";
import { driftSummary } from "../../core/drift/summary.ts";
import type { Project } from "../../core/manifests/project.ts";
import { eachChange } from "../../core/model/changes.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { Change, Item, Plan, Result } from "../../core/model/plan.ts";
import type { ControllerMode } from "../../core/model/settings/config.ts";
import { applyAccount } from "../../core/operations/apply.ts";
import { driftAccount } from "../../core/operations/drift.ts";
import { withRecords } from "../../core/operations/open-records.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import type { Lease } from "../../core/records/records.ts";
import { visible } from "../../core/text/control-characters.ts";
import { andMore, joinParts } from "../../core/text/lists.ts";
import { pathText, wholePath } from "../../core/text/paths.ts";
import { type Account, beginRepairs, type Checked, endRepairs, type Finding, type Found, stoppedRepairs, storeFound } from "./accounts.ts";
import { type Checkout, errorText } from "./checkout.ts";
import type { Database } from "./database.ts";
import type { Log } from "./log.ts";
import { notify } from "./notify.ts";

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
export async function checkAccount(account: Account, options: CheckOptions): Promise<void> {
  const { database, checkout, run, log } = options;
  const { target: name, commit: known, commitAt } = account;
  // At once: the checkout may be loaded again meanwhile.
  const [target, checked] = [checkout.target(name), { before: account, commit: checkout.commit() }];
  if (target === undefined) return;
  if (known !== null && commitAt !== null && (await checkout.isBehind({ id: known, at: commitAt })))
    return log(
      `The checkout of this worker is older than commit ${known.slice(0, 12)}, which was checked before. It does not check this account until it is updated. To go back, revert with a new commit.`,
      { level: "warn", account: name },
    );
  const began = performance.now();
  const { project, error: unloaded } = target;
  const checking = project === undefined || unloaded !== undefined ? failed(unloaded ?? "") : compareAndRepair(project, checked, options);
  const found = await Promise.resolve(checking).catch((error: unknown) => {
    run.signal.throwIfAborted();
    return failed(errorText(error));
  });
  if (!(await storeFound(database, found, { ...checked, ms: performance.now() - began })))
    return log("Another worker has stored a newer commit meanwhile, so this check is dropped.", { level: "warn", account: name });
  const { counts, error } = found;
  if (error === undefined) log(`${counts.exposed} exposed, ${counts.differences} different, ${counts.manual} by hand.`, { account: name });
  else log(error, { level: "error", account: name });
  if (project !== undefined) await notify(project, account, found, options);
}

const failed = (error: string): Found => ({
  counts: { exposed: 0, differences: 0, manual: 0, policy: 0 },
  findings: [],
  error: visible(error),
});

interface Compared extends Found {
  readonly exposed: readonly ExposedChange[];
}

async function compareAndRepair(project: Project, checked: Checked, options: CheckOptions): Promise<Found> {
  const account = checked.before;
  const compared = await compare(project, account, options);
  if (account.sending !== null) await endRepairs(options.database, account.target, compared.exposed);
  const isAllowed = account.mode === "protect" && options.maxMode === "protect" && compared.locked === undefined;
  return isAllowed && compared.error === undefined && compared.exposed.length > 0
    ? await repair(project, compared, { ...options, checked })
    : compared;
}

async function compare(project: Project, account: Account, { run }: CheckOptions): Promise<Compared> {
  const { state, lease } = await withRecords(project.settings, run.env, (records) => records.content());
  const { report } = await driftAccount(project, { failOn: ["blocked"] }, { ...run, records: state });
  run.signal.throwIfAborted();
  const { differences, manual, policy } = driftSummary(report).counts;
  const exposed = report.items.flatMap(exposedChanges);
  const nodes = new Set(exposed.map(({ address, node }) => `${address} ${node}`)).size;
  const error = report.exit.code === 1 ? firstError(report, "The account could not be read completely.") : undefined;
  return {
    exposed,
    // What an incomplete report does not show may still be there.
    report: error === undefined || nodes > account.exposed ? report : undefined,
    counts: { exposed: nodes, differences, manual, policy },
    findings: findingsOf(report),
    error,
    locked: lockText(lease),
  };
}

function firstError({ diagnostics }: Pick<Plan, "diagnostics">, otherwise: string): string {
  const first = diagnostics.find(({ severity }) => severity === "error");
  return visible(`${first?.code ?? "E_INCOMPLETE"}: ${first?.message ?? otherwise}`);
}

/** Of a lease for maintenance, which pauses the account. */
function lockText(lease: Lease | undefined): string | undefined {
  if (lease?.reason === undefined || (lease.until !== undefined && Date.parse(lease.until) <= Date.now())) return undefined;
  return visible(joinParts([lease.reason, lease.until === undefined ? "" : `until ${lease.until}`, lease.holder], ", "));
}

interface ExposedChange extends Change {
  readonly address: string;
  /** "public.users.email" */
  readonly node: string;
}

const exposedChanges = (item: Plan["items"][number]): readonly ExposedChange[] =>
  [...eachChange(item)].flatMap((change) =>
    change.risk === "exposed" ? [{ ...change, address: item.address, node: pathText(change.path).node }] : [],
  );

const mostFindings = 200;

/** The exposed changes first, then other differences, steps by hand and policies. */
function findingsOf({ items, manual, policy }: Plan): readonly Finding[] {
  const changes = items.flatMap((item): readonly Finding[] => {
    const isExposed = false;
    if (item.action === "create" || item.action === "bind")
      return item.action === "bind" ? [] : [{ what: "is missing", place: item.address, isExposed }];
    return Array.from(eachChange(item), (change) => ({
      what: whatText(change),
      place: item.address,
      isExposed: change.risk === "exposed",
      ...traceOf(change, item),
    }));
  });
  const byHand = manual.map(({ address, path }) => ({ what: `${wholePath(path)} must be changed by hand`.trim(), place: address }));
  const violated = policy.flatMap(({ state, policy: name, address, path }) =>
    state === "fixed" ? [] : [{ what: `${wholePath(path)} violates the policy ${name}`.trim(), place: address }],
  );
  const all = [...changes, ...[...byHand, ...violated].map((one) => ({ ...one, isExposed: false }))];
  return all.sort((a, b) => Number(b.isExposed) - Number(a.isExposed)).slice(0, mostFindings);
}

function whatText({ path, field, risk }: Change): string {
  const { node } = pathText(path);
  if (risk === "exposed" && field === "hashed") return `${node} is not hashed`;
  if (risk === "exposed" && field === "enabled") return `${node} is switched on`;
  return `${wholePath(path)} differs`.trim();
}

/** Who changed it. Only an event that names the node names a person beside it; another one says that the object was changed. */
function traceOf(
  { origin, attribution }: Change,
  item: Pick<Item, "address" | "liveName" | "attribution">,
): Pick<Finding, "actor" | "at" | "event"> {
  const found = attribution ?? (origin === "config" ? undefined : item.attribution);
  if (found === undefined || found.own) return {};
  const { actor = "a user without an e-mail address", at } = found;
  return attribution === undefined ? { event: `${item.liveName ?? item.address} was changed by ${actor}`, at } : { actor, at };
}

/** Sends only what protects, within the guards and under the lease of the records, and compares again. */
async function repair(project: Project, compared: Compared, options: CheckOptions & { readonly checked: Checked }): Promise<Found> {
  const { database, checked, run, log } = options;
  const account = checked.before;
  const often = await stoppedRepairs(database, account.target);
  const isStopped = ({ address, path }: ExposedChange): boolean => often.some((one) => one.address === address && one.path === path);
  const [stopped, sent] = [compared.exposed.filter(isStopped), compared.exposed.filter((change) => !isStopped(change))];
  const error = stopped[0] && visible(`E_PROTECT_STOPPED: ${stopped[0].address} ${whatText(stopped[0])}, ${stoppedText}`);
  if (sent.length === 0) return { ...compared, error };
  const names = sent.map(({ address, node }) => `${address} ${node}`);
  const what = visible(andMore(names, "change"));
  const repairs = sent.map(({ address, path, field, risk, ...change }) => {
    const { actor = null, at = null } = traceOf({ path, field, risk, ...change }, { address });
    return { address, path, actor, changedAt: actor === null ? null : at };
  });
  if (!(await beginRepairs(database, repairs, { ...checked, what }))) return compared;
  log(`Repairs ${what}.`, { account: account.target });
  // Without the database, other workers do not know what this one sends.
  const lost = new AbortController();
  const watch = setInterval(() => database.isReachable() || lost.abort(new Error("the connection to the database was lost")), 50);
  try {
    const signal = AbortSignal.any([run.signal, lost.signal]);
    const ignore = stopped.map(({ address, path }) => ({ address, path, reason: "protect stopped" }));
    const settings = { ...project.settings, ignore: [...project.settings.ignore, ...ignore] };
    const { plan, result } = await applyAccount({ ...project, settings }, { protectOnly: true }, { ...run, signal });
    const again = await compare(project, account, options);
    await endRepairs(database, account.target, again.exposed);
    return { ...again, error: again.error ?? failureOf(plan, result) ?? error };
  } catch (failure) {
    // Another run has the lease: the next check compares again.
    if (failure instanceof DimsyncError && failure.exit === 6) return { ...compared, error };
    throw failure;
  } finally {
    clearInterval(watch);
  }
}

const stoppedText =
  "and was repaired three times in a day. It is only reported now: agree with whoever changes it, or change the manifests.";

/** Why not everything was sent that protects. */
function failureOf(plan: Plan, { items, guards, diagnostics, exit }: Result): string | undefined {
  const refused = guards.find(({ allowed }) => allowed === undefined);
  if (refused !== undefined) return visible(`E_GUARD: ${refused.message}`);
  const item = items.find(({ outcome }) => outcome === "failed" || outcome === "unknown" || outcome === "not-converged");
  if (item !== undefined) return visible(`${item.code ?? "E_INCOMPLETE"}: ${item.address}: ${item.message ?? item.outcome}`);
  return exit.code === 1 || !plan.executable
    ? firstError({ diagnostics: [...diagnostics, ...plan.diagnostics] }, `Nothing was sent: ${exit.reasons.join(", ")}.`)
    : undefined;
}
