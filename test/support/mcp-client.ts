import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { onTestFinished } from "vitest";
import { builtCli } from "../cli/built-cli.ts";

/** `dimsync mcp` in a process, and the official client connected to it. */
export interface McpSession {
  readonly client: Client;
  /** Calls a tool. `parts` are the texts of the result; `texts` has those in the block of data, and then what dimsync says after it. */
  readonly call: (
    name: string,
    args?: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly texts: readonly string[]; readonly parts: readonly string[]; readonly isError: boolean }>;
  /** What the server printed on stderr. */
  readonly stderr: () => string;
  readonly pid: number;
}

/** Starts the built command line in `cwd`; it ends with the test. */
export async function startMcp(...args: Parameters<typeof connectMcp>): Promise<McpSession> {
  const session = await connectMcp(...args);
  onTestFinished(() => session.client.close());
  return session;
}

/** Like `startMcp`, for several tests: the caller closes the client. */
export async function connectMcp(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<McpSession> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [builtCli, "mcp", ...args],
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stderr: "pipe",
  });
  let err = "";
  transport.stderr?.on("data", (chunk) => {
    err += String(chunk);
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return {
    client,
    stderr: () => err,
    pid: transport.pid ?? 0,
    async call(name, given = {}) {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const parts = (content as readonly { readonly type: string; readonly text: string }[]).map(({ text }) => text);
      const texts = [...parts.slice(1, -1), (parts.at(-1) ?? "").replace(/^<\/data-[0-9a-f]+>\n/u, "")];
      return { texts, parts, isError: isError === true };
    },
  };
}
