import { nodePath } from "../../cli/node-path.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { type Tool, target, targetOf, text } from "../../cli/tool.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { explainSchemaNode } from "./explain.ts";

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
