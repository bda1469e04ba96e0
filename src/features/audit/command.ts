import { auditWindow } from "../../cli/argument-values.ts";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms, listingForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import type { AuditEntry } from "../../core/base/model/live.ts";
import { type AuditWindow, readAudit, unreadText } from "../../core/drift/index.ts";
import { type AccountProject, type RunEnvironment, withReadOnly } from "../../core/operations/index.ts";
import type { AuditFlags } from "./index.ts";

const columns = ["timestamp", "actor.email", "event", "context.userAgent", "context.ipAddress"];

/** `dimsync audit`: prints all pages of the audit log, newest first. Only sends GET. `-o json` prints `{ totalItems, items }`. */
export async function runAudit(context: Context<AuditFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const window = auditWindow(flags, Date.now());
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true, interruptible: true });
  const { missing, ...value } = await withRun(context, (run) => auditEntries(project, { window, actor: flags.actor }, run));
  if (missing !== undefined) io.stderr(`${missing}\n`);
  await deliverForms(context, {
    ...listingForms({ value, rows: value.items, columns, isTty: io.stdoutIsTty }),
    ...(value.items.length === 0 ? { human: () => "No entries.\n" } : {}),
  });
  return 0;
}

/** Entries of the audit log, newest first. */
interface AuditEntries {
  /** In the window, of the actor. */
  readonly totalItems: number;
  readonly items: readonly AuditEntry[];
  /** Why `items` does not have all entries, as a sentence. */
  readonly missing?: string;
}

/** Reads the audit log of an account; `actor`: only entries of this e-mail address. Only sends GET. Throws ServiceError. */
async function auditEntries(
  project: AccountProject,
  { window, actor }: { readonly window: AuditWindow; readonly actor: string | undefined },
  run: Pick<RunEnvironment, "env" | "signal">,
): Promise<AuditEntries> {
  const log = await withReadOnly(project, run, (client) => readAudit(client, window, { signal: run.signal }));
  const isPartial = `The audit log has ${log.totalItems} entries in this window, but only the newest ${log.items.length} were read. Use a later --since.`;
  const missing = [...(log.complete ? [] : [isPartial]), ...unreadText(log)].join(" ");
  const wanted = actor?.toLowerCase();
  const items = wanted === undefined ? log.items : log.items.filter((entry) => entry.actor.email?.toLowerCase() === wanted);
  return {
    // The interface can't select by actor, so what was selected here is also counted here.
    totalItems: actor === undefined ? log.totalItems : items.length,
    items,
    ...(missing === "" ? {} : { missing }),
  };
}
