import { declared } from "../../cli/declared.ts";
import type { Tool } from "../../cli/tool.ts";

// Serves the read-only commands to agents.

export const mcpCommand = (loadTools: () => Promise<readonly Tool[]>) =>
  declared({
    usage: "mcp",
    description:
      "Serve the read-only commands to agents (MCP). Runs a Model Context Protocol server on stdin and stdout, until stdin ends. Sends only GET requests.",
    isLongRunning: true,
    load: async () => {
      const [{ runMcp }, tools] = await Promise.all([import("./mcp.ts"), loadTools()]);
      return (context) => runMcp(context, tools);
    },
  });
