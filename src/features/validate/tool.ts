import { loadAnyProjects } from "../../cli/project.ts";
import { report, reportFormat, type Tool, target, targetOf } from "../../cli/tool.ts";
import { validateProjects } from "../../core/operations/validate.ts";

/** `validate` for agents. */
export const validateTool: Tool = {
  name: "validate",
  description: "Check the manifests without reading the account. Reports all problems with file, line and how to fix them.",
  parameters: { target, format: reportFormat },
  run: async (call) => {
    const projects = await loadAnyProjects(call.context, targetOf(call));
    return await report(call, [await validateProjects(projects)]);
  },
};
