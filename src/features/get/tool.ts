import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { type Tool, target, targetOf, text } from "../../cli/tool.ts";
import { liveKinds } from "../../core/kinds/live-views.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { liveQuery, readLive } from "./get.ts";

/** `get` for agents. */
export const getTool: Tool = {
  name: "get",
  description: "Print live integrations, tags, users or the schemas of an integration. Sends only GET requests.",
  parameters: {
    target,
    kind: { type: "string", description: "What to read", values: liveKinds, required: true },
    id: { type: "string", description: "Live id, or the address of a bound manifest; needed for SchemaConfig: the id of an integration" },
  },
  run: async (call) => {
    const query = liveQuery(text(call, "kind") ?? "", text(call, "id"));
    const project = await loadOneProject(call.context, { ...targetOf(call), account: true });
    const { value } = await withRun(call.context, (run) => readLive(project, query, run));
    return { text: jsonDocument(value), exit: 0 };
  },
};
