import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { type Tool, target, targetOf, text } from "../../cli/tool.ts";
import { yamlDocuments } from "../../core/yaml/print.ts";
import { renderManifests } from "./render.ts";

/** `render` for agents. */
export const renderTool: Tool = {
  name: "render",
  description: "Print manifests with variables filled in, as YAML. Secrets stay references.",
  parameters: {
    target,
    address: { type: "string", description: "Address of a manifest; default: all" },
    expand: { type: "boolean", description: "Replace rules by the settings that result for the account's tables and columns" },
  },
  run: async (call) => {
    const isExpanded = call.args["expand"] === true;
    const project = await loadValidProject(call.context, { ...targetOf(call), account: isExpanded });
    const options = { address: text(call, "address"), isExpanded };
    const { documents } = await withRun(call.context, (run) => renderManifests(project, options, run));
    return { text: yamlDocuments(documents), exit: 0 };
  },
};
