import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { untilFlag } from "../../cli/moments.ts";
import { durationMs } from "../../manifests/scalars.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { counted } from "../../text/counts.ts";
import type { SilenceScope } from "../alerts/silence.ts";
import { knownAccount, type Until } from "../operate.ts";
import { listAccounts } from "../views/accounts.ts";
import type { AccountSummary } from "../views/status.ts";

export interface Selection {
  readonly scope: SilenceScope;
  readonly accounts: readonly AccountSummary[];
  /** "prod", or "12 accounts with team=data". */
  readonly text: string;
}

/** The accounts that a name, `--label` or `--all` selects. Throws E_USAGE unless it is exactly one of them, and E_UNKNOWN_ACCOUNT if there are none. */
export async function selectedAccounts(database: Database, { flags }: Context<ControllerFlags>, name: string): Promise<Selection> {
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

/** Throws E_USAGE. */
export function neededReason({ flags }: Context<ControllerFlags>, task: string): string {
  const reason = flags.reason?.trim() ?? "";
  if (reason !== "") return reason;
  throw new DimsyncError("E_USAGE", `controller ${task} needs a reason, which the status page shows.`, {
    command: `dimsync controller ${task} prod${task === "acknowledge" ? "" : " --until 2h"} --reason "warehouse migration"`,
  });
}

/** Of `--until`: a duration such as 2h, or a time. Throws E_USAGE. */
export function neededUntil({ flags: { until } }: Context<ControllerFlags>, task: string): Until {
  if (until === undefined)
    throw new DimsyncError("E_USAGE", `controller ${task} needs an end: a duration or a time.`, {
      command: `dimsync controller ${task} prod --until 2h --reason "warehouse migration"`,
    });
  const ms = durationMs(until);
  return ms === undefined ? { at: untilFlag(until) } : { ms };
}
