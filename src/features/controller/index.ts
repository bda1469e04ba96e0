import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Checks every target with `controller` again and again, and serves one page and metrics. For teams with many accounts, which drift between deployments.

const options = {
  "--database <url>": "PostgreSQL that the workers share (also DIMSYNC_DATABASE_URL). Default: an embedded one, for one process",
  "--listen <host:port>": "Where the page listens (default: 127.0.0.1:8480). Other addresses need DIMSYNC_CONTROLLER_TOKEN",
  "--max-mode <mode>": "Highest mode of accounts: report or protect (default)",
  "--accounts-at-once <n>": "Accounts that this process checks at once (default: 8)",
  "--log-format <format>": "text (default), or json: one object for each message",
} as const satisfies Options;

export interface ControllerFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const controllerCommand = declared({
  usage: "controller",
  description:
    "Check accounts continuously and serve a page. Checks each target that has `controller` at its interval, and repairs what protects. It uses the checkout in the working directory, and loads it again when its commit changes. Start it on several machines with one --database to share the work.",
  options,
  examples: ["dimsync controller", "dimsync controller --database postgres://controller@db/dimsync --listen 0.0.0.0:8480"],
  // Its log can be JSON.
  onInterrupt: "",
  load: async () => (await import("./command.ts")).runController,
});
