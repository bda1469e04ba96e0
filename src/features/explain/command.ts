import type { Context } from "../../cli/context.ts";
import { nodePath } from "../../cli/node-path.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { type Tool, target, targetOf, text } from "../../cli/tool.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { sectionsText } from "../../core/render/terminal/blocks.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { explainSchemaNode } from "./explain.ts";
import { explainSections } from "./sections.ts";

/** `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`. Only sends GET. */
export async function runExplain(context: Context, address: string, path: string | undefined): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const node = nodePath("explain", path);
  const project = await loadValidProject(context, { account: true, interruptible: true });
  const explained = await withRun(context, (run) => explainSchemaNode(project, { address, node }, run));
  await deliverForms(context, {
    human: (options) => explained.map((one) => sectionsText(explainSections(one), options)).join("\n"),
    json: () => jsonDocument(explained),
  });
  return 0;
}

/** `explain` for agents. */
export const explainTool: Tool = {
  name: "explain",
  description: "Explain which rule decides a schema, table or column: every rule that matches, the live value and the last changes.",
  parameters: {
    target,
    address: { type: "string", description: "Schemas of an integration, such as Schemas/orders, or a SchemaConfig", required: true },
    path: {
      type: "string",
      description: 'SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. A name with dots is in quotes: public.customers."contact.email"',
    },
  },
  run: async (call) => {
    const node = nodePath("explain", text(call, "path"));
    const project = await loadValidProject(call.context, { ...targetOf(call), account: true });
    const address = text(call, "address") ?? "";
    const explained = await withRun(call.context, (run) => explainSchemaNode(project, { address, node }, run));
    return { text: jsonDocument(explained), exit: 0 };
  },
};
