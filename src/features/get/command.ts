import type { Context } from "../../cli/context.ts";
import type { GetFlags } from "../../cli/flags.ts";
import { listingFormats, listingForms } from "../../cli/listing-forms.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { liveQuery, readLive } from "./get.ts";

/** `dimsync get KIND [ID]`: prints live objects, normalised. ID can be the address of a bound manifest. Only sends GET. */
export async function runGet(context: Context<GetFlags>, kind: string, id: string | undefined): Promise<ExitCode> {
  const { io } = context;
  const query = liveQuery(kind, id);
  checkOutputs(context, listingFormats);
  const project = await loadOneProject(context, { account: true, interruptible: true });
  const { value, rows, columns } = await withRun(context, (run) => readLive(project, query, run));
  await deliverForms(context, listingForms({ value, rows, columns, isTty: io.stdoutIsTty }));
  return 0;
}
