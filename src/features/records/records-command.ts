import type { Context } from "../../cli/context.ts";
import type { RecordsFlags } from "../../cli/flags.ts";
import { untilFlag } from "../../cli/moments.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { loadOneProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { sectionsText } from "../../core/render/terminal/blocks.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { didYouMean } from "../../core/text/suggest.ts";
import { type HeldLease, lockTarget, recordsHistoryOf, recordsOf, unlockTarget } from "./lease.ts";
import { historySections, recordsSections } from "./sections.ts";

const tasks = ["show", "lock", "unlock", "init", "migrate", "export", "restore", "check"] as const;
type Task = (typeof tasks)[number];

const isTask = (text: string): text is Task => (tasks as readonly string[]).includes(text);

/** `dimsync records TASK [FILE]`: the records of one target. No task sends a request to the service. */
export async function runRecords(context: Context<RecordsFlags>, task: string, file: string | undefined): Promise<ExitCode> {
  if (!isTask(task))
    throw new DimsyncError("E_USAGE", `${JSON.stringify(task)} is not a task of records: ${tasks.join(", ")}.${didYouMean(task, tasks)}`);
  if (context.flags.log === true && task !== "show") throw new DimsyncError("E_USAGE", "--log is a flag of records show.");
  if (file !== undefined && task !== "restore") throw new DimsyncError("E_USAGE", `records ${task} takes no file.`);
  if (task === "show") await show(context);
  else if (task === "lock") await lock(context);
  else if (task === "unlock") await unlock(context);
  else return (await import("./move-records-command.ts")).runMove(context, task, file);
  return 0;
}

/** `dimsync records show`, and with `--log` the newest writes. */
async function show(context: Context<RecordsFlags>): Promise<void> {
  checkOutputs(context, ["human", "json"]);
  const { flags, io } = context;
  const project = await loadOneProject(context, { account: true });
  if (flags.log === true) {
    const history = await recordsHistoryOf(project, io.env);
    return await deliverForms(context, {
      human: (options) => sectionsText(historySections(history), options),
      json: () => jsonDocument({ kind: "RecordsHistory", ...history }),
    });
  }
  const { shown, holder } = await recordsOf(project, io.env);
  await deliverForms(context, {
    human: (options) => sectionsText(recordsSections({ ...shown, holder }), options),
    json: () => jsonDocument(shown),
  });
}

async function lock(context: Context<RecordsFlags>): Promise<void> {
  const { flags, io } = context;
  const project = await loadOneProject(context, { account: true });
  if (flags.reason === undefined || flags.reason.trim() === "")
    throw new DimsyncError("E_USAGE", "records lock needs a reason, which is shown to users who find the target locked.", {
      command: 'dimsync records lock --reason "warehouse migration"',
    });
  const until = flags.until === undefined ? undefined : untilFlag(flags.until);
  await lockTarget(project, { reason: flags.reason, until }, io.env);
  say(
    io,
    `The target is locked${until === undefined ? "" : ` until ${until.toISOString()}`}. To end the lock, run dimsync records unlock.`,
  );
}

async function unlock(context: Context<RecordsFlags>): Promise<void> {
  const { io } = context;
  const project = await loadOneProject(context, { account: true });
  const ended = await unlockTarget(project, (lease) => confirmUnlock(context, lease), io.env);
  say(io, ended === undefined ? "The target is not locked." : `The lease of ${ended.described} is ended.`);
}

/** A run may be alive however long ago it took the lease, since it renews it. */
async function confirmUnlock({ flags, io }: Context<RecordsFlags>, { reason, described, ttlMs }: HeldLease): Promise<void> {
  if (reason !== undefined || flags.force === true) return;
  const question = `The lease of ${described} will end. If that run is still alive, it may send requests for up to ${Math.round(ttlMs / 2000)} s more.`;
  const canAsk = io.stdinIsTty && io.stderrIsTty;
  const answer = canAsk ? await io.ask(`${question}\nEnd it? Type yes: `) : "";
  if (answer.trim() === "yes") return;
  throw new DimsyncError("E_LOCKED", `${question} To end it without confirmation, use --force.`, {
    exit: 6,
    command: "dimsync records unlock --force",
  });
}
