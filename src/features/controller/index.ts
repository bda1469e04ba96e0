import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Checks accounts continuously, and serves a status page. For teams with many accounts, which drift between deployments.

const options = {
  "--database <url>": "PostgreSQL of the controller (also DIMSYNC_DATABASE_URL). Default: an embedded one, for one process",
  "--state <dir>": "Directory of the embedded database and caches (default: .dimsync/controller; also DIMSYNC_CONTROLLER_STATE)",
  "--watch": "run: use the project in the working directory, and load it again when its files change",
  "--listen <host:port>":
    "run: where the status page listens (default: 127.0.0.1:8480). Other addresses need DIMSYNC_CONTROLLER_TOKEN or --trust-proxy-header",
  "--trust-proxy-header <name>": "run: header in which a reverse proxy names the user it authenticated",
  "--base-path <path>": "run: path of the status page's URL behind a proxy, such as /dimsync",
  "--public-url <url>": "run: URL of the status page, for links in notifications",
  "--role <role>": "run: all (default), worker or page",
  "--accounts-at-once <n>": "run: accounts that this process checks at once (default: 8)",
  "--accounts-per-host <n>": "run: accounts of one host that all processes check at once (default: 4)",
  "--max-mode <mode>": "run: highest mode of accounts, report or protect",
  "--log-format <format>": "run: text (default) or json: one object for each line, with level, account, run, worker and trace id",
  "--force": "push: replace a bundle although this one does not follow it; needs --reason",
  "--allow-removal": "push, rollback: end accounts that the project no longer has; their history is kept",
  "--source <name>": "push: name of the project (default: the repository, such as example/config). notify: only its receivers",
  "--wait": "check: wait for the result, print it, and exit as drift does",
  "--label <name=value>": "suspend, resume, silence: all accounts with this label",
  "--all": "suspend, resume, silence: all accounts",
  "--until <time>": "suspend, silence: when it ends, such as 2h or 2027-01-31T18:00:00Z",
  "--reason <text>": "suspend, silence, acknowledge, rollback, push --force: why; shown to others",
  "--test": "notify: send a message that shows whether the receivers can be reached",
} as const satisfies Options;

export interface ControllerFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const controllerCommand = declared({
  usage: "controller <task> [name]",
  description:
    "Check accounts continuously. Tasks: run, push, bundles, rollback, status, check, suspend, resume, silence, acknowledge, notify, history. run checks every account at its interval, repairs what its mode allows, and serves a status page; start it on several machines to share the work. The others use a running controller.",
  options,
  examples: [
    "dimsync controller run --watch",
    "dimsync controller status",
    "dimsync controller check prod --wait",
    'dimsync controller suspend prod --until 2027-01-31T18:00:00Z --reason "warehouse migration"',
    'dimsync controller silence --label team=data --until 2h --reason "migration tonight"',
    "dimsync controller notify --test",
  ],
  // Its log can be JSON.
  onInterrupt: "",
  load: async () => (await import("./commands/controller.ts")).runControllerTask,
});
