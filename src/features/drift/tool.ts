import { momentFlag } from "../../cli/moments.ts";
import { compare, comparison, type Tool, text } from "../../cli/tool.ts";
import { driftAccount } from "../../core/operations/drift.ts";

/** `drift` for agents. */
export const driftTool: Tool = {
  name: "drift",
  description:
    "Report how the account differs from the manifests, and who changed it, from the audit log. Sends only GET requests and notifies nobody.",
  parameters: {
    ...comparison,
    since: { type: "string", description: "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)" },
  },
  run: async (call) => {
    const given = text(call, "since");
    const since = given === undefined ? {} : { since: momentFlag("--since", given, Date.now()) };
    return await compare(call, async (project, options, run) => (await driftAccount(project, { ...options, ...since }, run)).report);
  },
};
