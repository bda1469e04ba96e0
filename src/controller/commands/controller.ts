import type { Context } from "../../cli/context.ts";
import type { ControllerFlags } from "../../cli/flags.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { didYouMean } from "../../text/suggest.ts";

type Task = (context: Context<ControllerFlags>, account: string) => Promise<ExitCode>;

/** Each task imports its code, because most of them need neither the queue nor the page. */
const tasks: Readonly<Record<string, Task>> = {
  run: async (context) => (await import("./run.ts")).runRun(context),
  push: async (context) => (await import("./push.ts")).runPush(context),
  status: async (context) => (await import("./status.ts")).runStatus(context),
  check: async (context, account) => (await import("./check.ts")).runCheck(context, account),
  suspend: async (context, account) => (await import("./suspend.ts")).runSuspend(context, account),
  resume: async (context, account) => (await import("./suspend.ts")).runResume(context, account),
  silence: async (context, account) => (await import("./suspend.ts")).runSilence(context, account),
  acknowledge: async (context, account) => (await import("./suspend.ts")).runAcknowledge(context, account),
  notify: async (context, receiver) => (await import("./notify.ts")).runNotify(context, receiver),
  bundles: async (context) => (await import("./bundles.ts")).runBundles(context),
  rollback: async (context, digest) => (await import("./bundles.ts")).runRollback(context, digest),
  history: async (context, account) => (await import("./history.ts")).runHistory(context, account),
};

const account = "the name of an account, as dimsync controller status shows it";

/** Tasks whose argument can be absent. */
const optional: ReadonlySet<string> = new Set(["suspend", "resume", "silence", "notify"]);

/** What the argument of a task must be; the others take none. */
const needed: Readonly<Record<string, string>> = {
  ...{ check: account, suspend: account, resume: account, silence: account, acknowledge: account, history: account },
  notify: "the name of a receiver",
  rollback: "the digest of a bundle, as dimsync controller bundles shows it",
};

/** `dimsync controller TASK [NAME]` */
export async function runControllerTask(context: Context<ControllerFlags>, task: string, name: string | undefined): Promise<ExitCode> {
  const names = Object.keys(tasks);
  const run = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
  if (run === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `${JSON.stringify(task)} is not a task of controller: ${names.join(", ")}.${didYouMean(task, names)}`,
    );
  const argument = needed[task];
  if (name === undefined && argument !== undefined && !optional.has(task))
    throw new DimsyncError("E_USAGE", `controller ${task} needs ${argument}.`);
  if (name !== undefined && argument === undefined) throw new DimsyncError("E_USAGE", `controller ${task} takes no name.`);
  context.io.catchSignals?.();
  return await run(context, name ?? "");
}
