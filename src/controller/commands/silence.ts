import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { acknowledge, silence } from "../alerts/silence.ts";
import { knownAccount } from "../operate.ts";
import { currentUser, withController } from "./place.ts";
import { neededReason, neededUntil, selectedAccounts } from "./selection.ts";

/** `dimsync controller silence ACCOUNT|--label K=V|--all --until 2h --reason R`: accounts are checked, and their events wait. `--until 0s` ends it. */
export async function runSilence(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const until = neededUntil(context, "silence");
  const isEnd = until.ms === 0;
  const reason = isEnd ? "ended" : neededReason(context, "silence");
  return await withController<ExitCode>(context, async (database) => {
    const { scope, text } = await selectedAccounts(database, context, name);
    const end = await silence(database, scope, { ...until, reason, by: currentUser(context) });
    say(context.io, isEnd ? `Notifications of ${text} no longer wait.` : `Notifications of ${text} wait until ${end}. Checks continue.`);
    return 0;
  });
}

/** `dimsync controller acknowledge ACCOUNT --reason R`: no reminders of what is reported now. */
export async function runAcknowledge(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const reason = neededReason(context, "acknowledge");
  return await withController<ExitCode>(context, async (database) => {
    const account = await knownAccount(database, name);
    const names = await acknowledge(database, account, { reason, by: currentUser(context) });
    if (names.length === 0)
      throw new DimsyncError("E_USAGE", `Nothing is reported of ${account.name}, so there is nothing to acknowledge.`);
    say(context.io, `${account.name}: ${names.join(", ")} will not be sent again until it is over. What is new is sent.`);
    return 0;
  });
}
