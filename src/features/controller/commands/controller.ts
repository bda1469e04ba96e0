import type { Context } from "../../../cli/context.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { didYouMean } from "../../../core/text/suggest.ts";
import type { ControllerFlags } from "../index.ts";

interface Task {
  /** Imports its code, because most tasks need neither the queue nor the page. */
  readonly run: (context: Context<ControllerFlags>, name: string) => Promise<ExitCode>;
  /** What its argument must be; absent if it takes none. */
  readonly takes?: string;
  readonly isOptional?: true;
}

const account = "the name of an account, as dimsync controller status shows it";
const selected = { takes: account, isOptional: true } as const;

const tasks: Readonly<Record<string, Task>> = {
  run: { run: async (context) => (await import("./run.ts")).runRun(context) },
  push: { run: async (context) => (await import("./push.ts")).runPush(context) },
  status: { run: async (context) => (await import("./status.ts")).runStatus(context) },
  check: { takes: account, run: async (context, name) => (await import("./check.ts")).runCheck(context, name) },
  suspend: { ...selected, run: async (context, name) => (await import("./suspend.ts")).runSuspend(context, name) },
  resume: { ...selected, run: async (context, name) => (await import("./suspend.ts")).runResume(context, name) },
  silence: { ...selected, run: async (context, name) => (await import("./suspend.ts")).runSilence(context, name) },
  acknowledge: { takes: account, run: async (context, name) => (await import("./suspend.ts")).runAcknowledge(context, name) },
  notify: {
    takes: "the name of a receiver",
    isOptional: true,
    run: async (context, receiver) => (await import("./notify.ts")).runNotify(context, receiver),
  },
  bundles: { run: async (context) => (await import("./bundles.ts")).runBundles(context) },
  rollback: {
    takes: "the digest of a bundle, as dimsync controller bundles shows it",
    run: async (context, digest) => (await import("./bundles.ts")).runRollback(context, digest),
  },
  history: { takes: account, run: async (context, name) => (await import("./history.ts")).runHistory(context, name) },
};

/** `dimsync controller TASK [NAME]` */
export async function runControllerTask(context: Context<ControllerFlags>, name: string, argument: string | undefined): Promise<ExitCode> {
  const names = Object.keys(tasks);
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  if (task === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `${JSON.stringify(name)} is not a task of controller: ${names.join(", ")}.${didYouMean(name, names)}`,
    );
  const { takes, isOptional = false } = task;
  if (argument === undefined && takes !== undefined && !isOptional) throw new DimsyncError("E_USAGE", `controller ${name} needs ${takes}.`);
  if (argument !== undefined && takes === undefined) throw new DimsyncError("E_USAGE", `controller ${name} takes no name.`);
  const { io } = context;
  io.catchSignals?.();
  if (name !== "run") io.interrupted.addEventListener("abort", () => io.stderr("\ndimsync: interrupted.\n"), { once: true });
  return await task.run(context, argument ?? "");
}
