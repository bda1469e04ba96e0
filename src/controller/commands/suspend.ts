import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { say } from "../../cli/say.ts";
import type { ExitCode } from "../../model/exit.ts";
import { requestCheck, resume, suspend } from "../operate.ts";
import { requestChecks } from "../work/queue.ts";
import { currentUser, withController } from "./place.ts";
import { neededReason, neededUntil, selectedAccounts } from "./selection.ts";

/** `dimsync controller suspend ACCOUNT|--label K=V|--all --until T --reason R` */
export async function runSuspend(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const reason = neededReason(context, "suspend");
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
