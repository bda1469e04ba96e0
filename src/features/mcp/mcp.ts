import { Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/say.ts";
import type { Tool } from "../../cli/tool.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { masked } from "../../core/model/settings/secret.ts";
import { createMcpServer } from "./server.ts";

/** `dimsync mcp`: serves tools and resources over stdin and stdout until one of them ends. */
export async function runMcp(context: Context, tools: readonly Tool[]): Promise<ExitCode> {
  const { io } = context;
  const stop = new AbortController();
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    // The host has gone.
    process.stdout.on("error", () => resolve());
  });
  const server = createMcpServer({ ...context, io: { ...io, interrupted: stop.signal } }, tools);
  server.onerror = (error) => say(io, `${error.message}`);
  await server.connect(new StdioServerTransport(process.stdin, protocolOutput()));
  await ended;
  // Calls that still run end at once.
  stop.abort();
  await server.close();
  return 0;
}

/** The only writer of stdout from now on. Whatever else prints, such as the console of a dependency, prints on stderr, so that messages stay whole. */
function protocolOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => void write(masked(String(chunk)), encoding, () => done()),
  });
}
