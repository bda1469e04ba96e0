import type { Context } from "../../cli/context.ts";
import type { AuditFlags } from "../../cli/flags.ts";
import { listingFormats, listingForms, rawForms } from "../../cli/listing-forms.ts";
import { auditWindow } from "../../cli/moments.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { auditEntries, auditPages } from "./audit.ts";

const columns = ["timestamp", "actor.email", "event", "context.userAgent", "context.ipAddress"];

/** `dimsync audit`: prints all pages of the audit log, newest first. Only sends GET. `-o json` prints `{ totalItems, items }`, `--raw` the responses, one per page. */
export async function runAudit(context: Context<AuditFlags>): Promise<ExitCode> {
  const { io, flags } = context;
  const window = auditWindow(flags, Date.now());
  const isRaw = flags.raw === true;
  checkOutputs(context, isRaw ? listingFormats.filter((format) => format !== "markdown") : listingFormats);
  if (isRaw && flags.actor !== undefined)
    throw new DimsyncError("E_USAGE", "--actor cannot be combined with --raw: the service cannot filter by actor.");
  const project = await loadOneProject(context, { account: true, interruptible: true });
  if (isRaw) {
    const pages = await withRun(context, (run) => auditPages(project, window, run));
    await deliverForms(context, rawForms(pages, pages));
    return 0;
  }
  const { missing, ...value } = await withRun(context, (run) => auditEntries(project, { window, actor: flags.actor }, run));
  if (missing !== undefined) io.stderr(`${missing}\n`);
  await deliverForms(context, {
    ...listingForms({ value, rows: value.items, columns, isTty: io.stdoutIsTty }),
    ...(value.items.length === 0 ? { human: () => "No entries.\n" } : {}),
  });
  return 0;
}
