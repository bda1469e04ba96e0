import type { Context } from "../../cli/context.ts";
import type { AuditFlags } from "../../cli/flags.ts";
import { listingFormats, listingForms } from "../../cli/listing-forms.ts";
import { auditWindow } from "../../cli/moments.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { auditEntries } from "./audit.ts";

const columns = ["timestamp", "actor.email", "event", "context.userAgent", "context.ipAddress"];

/** `dimsync audit`: prints all pages of the audit log, newest first. Only sends GET. `-o json` prints `{ totalItems, items }`. */
export async function runAudit(context: Context<AuditFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const window = auditWindow(flags, Date.now());
  checkOutputs(context, listingFormats);
  const project = await loadOneProject(context, { account: true, interruptible: true });
  const { missing, ...value } = await withRun(context, (run) => auditEntries(project, { window, actor: flags.actor }, run));
  if (missing !== undefined) io.stderr(`${missing}\n`);
  await deliverForms(context, {
    ...listingForms({ value, rows: value.items, columns, isTty: io.stdoutIsTty }),
    ...(value.items.length === 0 ? { human: () => "No entries.\n" } : {}),
  });
  return 0;
}
