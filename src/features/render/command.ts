import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { RenderFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { yamlDocuments } from "../../core/yaml/print.ts";
import { renderManifests } from "./render.ts";

/** `dimsync render [ADDRESS]`: prints manifests with variables filled in; secrets stay references. Sends no request; --expand sends GETs. */
export async function runRender(context: Context<RenderFlags>, address: string | undefined): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const isExpanded = flags.expand === true;
  const project = await loadValidProject(context, { account: isExpanded && flags.snapshot === undefined, interruptible: true });
  const snapshotFile = flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot);
  const { documents, unexpanded } = await withRun(context, (run) =>
    renderManifests(project, { address, isExpanded }, { ...run, snapshotFile }),
  );
  if (unexpanded.length > 0 && flags.quiet !== true)
    say(io, `not expanded, because their integrations are not in the account yet: ${unexpanded.join(", ")}.`);
  await deliverForms(context, {
    human: () => yamlDocuments(documents),
    json: () => jsonDocument(address !== undefined && documents.length === 1 ? documents[0] : documents),
  });
  return 0;
}
