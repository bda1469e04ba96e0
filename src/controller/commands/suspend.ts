import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { untilFlag } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { knownAccount, requestCheck, resume, suspend } from "../operate.ts";
import type { AccountDetail } from "../views/status.ts";
import { requestChecks } from "../work/queue.ts";
import { currentUser, withController } from "./place.ts";

/** `dimsync controller suspend ACCOUNT --until T --reason R` */
export async function runSuspend(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const { flags, io } = context;
  if (flags.reason === undefined || flags.reason.trim() === "" || flags.until === undefined)
    throw new DimsyncError("E_USAGE", "controller suspend needs a time and a reason, which the status page shows.", {
      command: `dimsync controller suspend ${name} --until 2027-01-31T18:00:00Z --reason "warehouse migration"`,
    });
  const until = untilFlag(flags.until);
  const { reason } = flags;
  return await withController<ExitCode>(context, async (database) => {
    const account = await knownAccount(database, name);
    await suspend(database, account, { until, reason, by: currentUser(context) });
    say(io, `${account.name} is suspended until ${until.toISOString()}. A run in progress is completed.`);
    return 0;
  });
}

/** Queues the account, which is no longer suspended. */
async function requestNow(database: Database, { suspension: _, ...account }: AccountDetail): Promise<void> {
  await requestChecks(database, [await requestCheck(database, account)]);
}

/** `dimsync controller resume ACCOUNT` */
export async function runResume(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  return await withController<ExitCode>(context, async (database) => {
    const account = await knownAccount(database, name);
    const wasSuspended = await resume(database, account, currentUser(context));
    if (wasSuspended) await requestNow(database, account);
    say(context.io, `${account.name} ${wasSuspended ? "is checked again" : "is not suspended"}.`);
    return 0;
  });
}
