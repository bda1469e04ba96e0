import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Runs the embedded service. For demos, rehearsals and tests of workflows.

const options = {
  "--port <n>": "Port on 127.0.0.1 (default: a free port)",
  "--data <file>": "Keep the account and its keys in this file (default: in memory)",
  "--observed": "Answer as the public descriptions of the service show it, not as its interface document does",
  "--person <email>": { text: "Add an API key for this user; repeatable", repeatable: true },
} as const satisfies Options;

export interface ServeFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const serveCommand = declared({
  usage: "serve",
  description: "Run the embedded service on localhost. For demos and tests.",
  options,
  examples: ["dimsync serve", "dimsync serve --port 8080 --data account.json"],
  onInterrupt: "\ndimsync: stopping the embedded service.\n",
  load: async () => (await import("./command.ts")).runServe,
});
