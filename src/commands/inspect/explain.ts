import type { ExitCode } from "../../model/exit.ts";
import { explainSchemaNode } from "../../operations/inspect/explain.ts";
import { explainText } from "../../render/terminal/explain.ts";
import { jsonDocument } from "../../text/control-characters.ts";
import type { Context } from "../shared/context.ts";
import type { ExplainFlags } from "../shared/flags.ts";
import { nodePath } from "../shared/node-path.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadValidProject } from "../shared/project.ts";

/** `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`. Only sends GET. */
export async function runExplain(context: Context<ExplainFlags>, address: string, path: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context, ["human", "json"]);
  const node = nodePath("explain", path, flags.pointer);
  const project = await loadValidProject(context, { account: true });
  if (project === undefined) return 1;
  const explained = await explainSchemaNode(project, { address, node }, { env: io.env, signal: io.interrupted });
  await deliverForms(context, {
    human: (options) => explained.map((one) => explainText(one, options)).join("\n"),
    json: () => jsonDocument(explained),
  });
  return 0;
}
