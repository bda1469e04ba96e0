import { randomUUID } from "node:crypto";
import type { Context } from "../../cli/context.ts";
import type { RecordsFlags } from "../../cli/flags.ts";
import { untilFlag } from "../../cli/moments.ts";
import { checkOutputs } from "../../cli/output.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Lease, Records } from "../../records/records.ts";
import { describeLease, movedTo, recordsMoved } from "../../records/store-errors.ts";
import { didYouMean } from "../../text/suggest.ts";
import { showHistory, showRecords } from "./show.ts";
import { withStore } from "./with-records.ts";

const tasks = ["show", "lock", "unlock", "init", "migrate", "export", "restore", "check"] as const;
type Task = (typeof tasks)[number];

const isTask = (text: string): text is Task => (tasks as readonly string[]).includes(text);

/** `dimsync records TASK [FILE]`: the records of one target. No task sends a request to the service. */
export async function runRecords(context: Context<RecordsFlags>, task: string, file: string | undefined): Promise<ExitCode> {
  if (!isTask(task))
    throw new DimsyncError("E_USAGE", `${JSON.stringify(task)} is not a task of records: ${tasks.join(", ")}.${didYouMean(task, tasks)}`);
  if (context.flags.log === true && task !== "show") throw new DimsyncError("E_USAGE", "--log is a flag of records show.");
  if (file !== undefined && task !== "restore") throw new DimsyncError("E_USAGE", `records ${task} takes no file.`);
  switch (task) {
    case "show":
      checkOutputs(context, ["human", "json"]);
      return withStore(context, (records, { settings }) =>
        (context.flags.log === true ? showHistory : showRecords)(context, records, settings.target),
      );
    case "lock":
      return withStore(context, (records) => lock(context, records));
    case "unlock":
      return withStore(context, (records, { settings }) => unlock(context, records, settings.target));
    default:
      return (await import("./move-records.ts")).runMove(context, task, file);
  }
}

async function lock({ flags, io }: Context<RecordsFlags>, records: Records): Promise<ExitCode> {
  if (flags.reason === undefined || flags.reason.trim() === "")
    throw new DimsyncError("E_USAGE", "records lock needs a reason, which is shown to users who find the target locked.", {
      command: 'dimsync records lock --reason "warehouse migration"',
    });
  if (movedTo(flags.reason) !== undefined)
    throw new DimsyncError("E_USAGE", "records migrate uses this reason for a store that is left for good. Use other words.");
  const until = flags.until === undefined ? undefined : untilFlag(flags.until);
  await records.lock({ runId: randomUUID(), reason: flags.reason, ...(until === undefined ? {} : { until }) });
  say(
    io,
    `The target is locked${until === undefined ? "" : ` until ${until.toISOString()}`}. To end the lock, run dimsync records unlock.`,
  );
  return 0;
}

async function unlock(context: Context<RecordsFlags>, records: Records, target: string): Promise<ExitCode> {
  const lease = await records.lease();
  if (lease === undefined) {
    say(context.io, "The target is not locked.");
    return 0;
  }
  const to = movedTo(lease.reason);
  if (to !== undefined) throw recordsMoved({ target, place: records.place }, to);
  await confirmUnlock(context, lease);
  const ended = await records.unlock();
  say(context.io, ended === undefined ? "The target is not locked." : `The lease of ${describeLease(ended)} is ended.`);
  return 0;
}

/** A run may be alive however long ago it took the lease, since it renews it. */
async function confirmUnlock({ flags, io }: Context<RecordsFlags>, lease: Lease): Promise<void> {
  if (lease.reason !== undefined || flags.force === true) return;
  const question = `The lease of ${describeLease(lease)} will end. If that run is still alive, it may send requests for up to ${Math.round(lease.ttlMs / 2000)} s more.`;
  const canAsk = io.stdinIsTty && io.stderrIsTty;
  const answer = canAsk ? await io.ask(`${question}\nEnd it? Type yes: `) : "";
  if (answer.trim() === "yes") return;
  throw new DimsyncError("E_LOCKED", `${question} To end it without confirmation, use --force.`, {
    exit: 6,
    command: "dimsync records unlock --force",
  });
}
