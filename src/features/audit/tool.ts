import { auditWindow } from "../../cli/moments.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { type Tool, target, targetOf, text } from "../../cli/tool.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { auditEntries } from "./audit.ts";

/** `audit` for agents. */
export const auditTool: Tool = {
  name: "audit",
  description: "Print the audit log of the account, newest entries first. Sends only GET requests.",
  parameters: {
    target,
    since: { type: "string", description: "A date, a date and time, or an age such as 24h or 7d" },
    until: { type: "string", description: "Same formats (default: now)" },
    actor: { type: "string", description: "Only entries of the user with this e-mail address" },
  },
  run: async (call) => {
    const window = auditWindow({ since: text(call, "since"), until: text(call, "until") }, Date.now());
    const project = await loadOneProject(call.context, { ...targetOf(call), account: true });
    const { missing, ...entries } = await withRun(call.context, (run) =>
      auditEntries(project, { window, actor: text(call, "actor") }, run),
    );
    return { text: jsonDocument(entries), exit: 0, note: missing };
  },
};
