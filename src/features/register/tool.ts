import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { plain, strings, type Tool, target, targetOf, text } from "../../cli/tool.ts";
import { makeRegister } from "./register.ts";
import { registerCsv } from "./render/csv.ts";
import { registerJson } from "./render/json.ts";
import { registerMarkdown } from "./render/markdown.ts";

/** `register` for agents. */
export const registerTool: Tool = {
  name: "register",
  description:
    "List every column with a label of a Classification: where it comes from, whether it is replicated and hashed, and which rule decides. Sends only GET requests.",
  parameters: {
    target,
    label: { type: "strings", description: "Only columns with these labels" },
    integration: { type: "strings", description: "Only integrations that match; globs such as shop-*" },
    format: {
      type: "string",
      description: "markdown (default): totals, then tables. csv: a line for each column. json: every member",
      values: ["markdown", "csv", "json"],
    },
  },
  run: async (call) => {
    const project = await loadValidProject(call.context, { ...targetOf(call), account: true });
    const options = { labels: strings(call, "label"), integrations: strings(call, "integration") };
    const format = text(call, "format");
    const { register } = await withRun(call.context, (run) => makeRegister(project, options, run));
    const made = format === "csv" ? registerCsv(register) : format === "json" ? registerJson(register) : registerMarkdown(register, plain);
    return { text: [...made].join(""), exit: register.exit.code };
  },
};
