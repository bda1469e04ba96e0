import type { Context } from "../../../cli/context.ts";
import { untilFlag } from "../../../cli/moments.ts";
import { say } from "../../../cli/say.ts";
import { durationMs } from "../../../core/manifests/scalars.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { counted } from "../../../core/text/counts.ts";
import { acknowledge, type SilenceScope, silence } from "../alerts/silence.ts";
import type { ControllerFlags } from "../index.ts";
import { knownAccount, requestCheck, resume, suspend, type Until } from "../operate.ts";
import { listAccounts } from "../views/accounts.ts";
import type { AccountSummary } from "../views/status.ts";
import { requestChecks } from "../work/queue.ts";
import { currentUser, neededReason, withController } from "./place.ts";

/** `dimsync controller suspend ACCOUNT|--label K=V|--all --until T --reason R` */
export async function runSuspend(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const reason = neededReason(context, "controller suspend", example("suspend"));
  const until = neededUntil(context, "suspend");
  return await withController<ExitCode>(context, async (database) => {
    const { accounts, text } = await selectedAccounts(database, context, name);
    let end = "";
    for (const account of accounts) end = await suspend(database, account, { ...until, reason, by: currentUser(context) });
    say(context.io, `${text} ${accounts.length === 1 ? "is" : "are"} suspended until ${end}. A run in progress is completed.`);
    return 0;
  });
}

/** `dimsync controller resume ACCOUNT|--label K=V|--all` */
export async function runResume(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  return await withController<ExitCode>(context, async (database) => {
    const { accounts } = await selectedAccounts(database, context, name);
    for (const { suspension, ...account } of accounts) {
      const wasSuspended = await resume(database, { ...account }, currentUser(context));
      if (wasSuspended) await requestChecks(database, [await requestCheck(database, account)]);
      say(context.io, `${account.name} ${wasSuspended ? "is checked again" : "is not suspended"}.`);
    }
    return 0;
  });
}

/** `dimsync controller silence ACCOUNT|--label K=V|--all --until 2h --reason R`: accounts are checked, and their events wait. `--until 0s` ends it. */
export async function runSilence(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const until = neededUntil(context, "silence");
  const isEnd = until.ms === 0;
  const reason = isEnd ? "ended" : neededReason(context, "controller silence", example("silence"));
  return await withController<ExitCode>(context, async (database) => {
    const { scope, text } = await selectedAccounts(database, context, name);
    const end = await silence(database, scope, { ...until, reason, by: currentUser(context) });
    say(context.io, isEnd ? `Notifications of ${text} no longer wait.` : `Notifications of ${text} wait until ${end}. Checks continue.`);
    return 0;
  });
}

/** `dimsync controller acknowledge ACCOUNT --reason R`: no reminders of what is reported now. */
export async function runAcknowledge(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const reason = neededReason(context, "controller acknowledge", `dimsync controller acknowledge prod --reason "the owner is on it"`);
  return await withController<ExitCode>(context, async (database) => {
    const account = await knownAccount(database, name);
    const names = await acknowledge(database, account, { reason, by: currentUser(context) });
    if (names.length === 0)
      throw new DimsyncError("E_USAGE", `Nothing is reported of ${account.name}, so there is nothing to acknowledge.`);
    say(context.io, `${account.name}: ${names.join(", ")} will not be sent again until it is over. What is new is sent.`);
    return 0;
  });
}

interface Selection {
  readonly scope: SilenceScope;
  readonly accounts: readonly AccountSummary[];
  /** "prod", or "12 accounts with team=data". */
  readonly text: string;
}

/** The accounts that a name, `--label` or `--all` selects. Throws E_USAGE unless it is exactly one of them, and E_UNKNOWN_ACCOUNT if there are none. */
async function selectedAccounts(database: Database, { flags }: Context<ControllerFlags>, name: string): Promise<Selection> {
  const given = [name !== "", flags.label !== undefined, flags.all === true].filter(Boolean);
  if (given.length !== 1)
    throw new DimsyncError("E_USAGE", "Name an account, or select accounts with --label NAME=VALUE or --all: exactly one of them.");
  if (name !== "") {
    const account = await knownAccount(database, name);
    return { scope: { source: account.source, target: account.target }, accounts: [account], text: account.name };
  }
  const all = await listAccounts(database);
  if (flags.label === undefined) return { scope: { all: true }, accounts: all, text: counted(all.length, "account") };
  const [label = "", ...rest] = flags.label.split("=");
  const value = rest.join("=");
  const accounts = all.filter(({ labels }) => Object.hasOwn(labels, label) && labels[label] === value);
  if (accounts.length === 0) throw new DimsyncError("E_UNKNOWN_ACCOUNT", `No account has the label ${JSON.stringify(flags.label)}.`);
  return { scope: { label, value }, accounts, text: `${counted(accounts.length, "account")} with ${flags.label}` };
}

const example = (task: string): string => `dimsync controller ${task} prod --until 2h --reason "warehouse migration"`;

/** Of `--until`: a duration such as 2h, or a time. Throws E_USAGE. */
function neededUntil({ flags: { until } }: Context<ControllerFlags>, task: string): Until {
  if (until === undefined)
    throw new DimsyncError("E_USAGE", `controller ${task} needs an end: a duration or a time.`, {
      command: example(task),
    });
  const ms = durationMs(until);
  return ms === undefined ? { at: untilFlag(until) } : { ms };
}
