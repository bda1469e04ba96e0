import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliver } from "../../../cli/output.ts";
import { say } from "../../../cli/say.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import type { ControllerFlags } from "../index.ts";
import { answerOf, knownAccount, type RequestedCheck, requestCheck } from "../operate.ts";
import type { RunDetail } from "../views/status.ts";
import { requestChecks } from "../work/queue.ts";
import { withController } from "./place.ts";

const pollMs = 300;

/** `dimsync controller check ACCOUNT`: checks now; with `--wait` prints the report and exits as `drift` does. */
export async function runCheck(context: Context<ControllerFlags>, name: string): Promise<ExitCode> {
  const { flags, io } = context;
  checkOutputs(context);
  return await withController(context, async (database) => {
    const account = await knownAccount(database, name);
    const request = await requestCheck(database, account);
    await requestChecks(database, [request]);
    if (flags.wait !== true) {
      say(io, `${account.name} is checked next. To see the result: dimsync controller status`);
      return 0;
    }
    const { report, error, exit } = await answered(database, request, io.interrupted);
    if (report !== undefined) await deliver(context, [report]);
    if (error !== undefined) say(io, `${error.code}: ${error.message}`);
    return exit.code;
  });
}

/** Waits for a run that began after the request. Throws the signal's reason. */
async function answered(database: Database, request: RequestedCheck, signal: AbortSignal): Promise<RunDetail> {
  for (;;) {
    signal.throwIfAborted();
    const run = await answerOf(database, request);
    if (run !== undefined) return run;
    await sleep(pollMs);
  }
}
