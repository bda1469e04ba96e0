import { type Command, Option } from "commander";
import type { ExitCode } from "../core/model/exit.ts";
import { version } from "../core/model/runtime/version.ts";
import { type Context, contextOf } from "./context.ts";
import type { ApplyFlags, GlobalFlags, InitFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { planOptions, protectOnlyOption, readOptions, repeatable } from "./options.ts";

/** What a command does; `Args` are the arguments that its usage declares. */
export type Run<Flags extends GlobalFlags, Args extends readonly unknown[]> = (context: Context<Flags>, ...args: Args) => Promise<ExitCode>;

/** Declares a command. `usage` is its name and arguments; `load` imports its code, so that no command loads that of another. */
export type Add = <Flags extends GlobalFlags = GlobalFlags, Args extends readonly unknown[] = readonly []>(
  usage: string,
  description: string,
  load: () => Promise<Run<Flags, Args>>,
) => Command;

/** What the commands are declared on. */
interface CommandLine {
  readonly program: Command;
  readonly io: Io;
  readonly done: (code: ExitCode) => void;
  readonly add: Add;
}

/** Declares every command with its arguments and options, in the order of the help. */
export function declareCommands(line: CommandLine): void {
  declareStart(line);
  declareCore(line);
  declareReview(line);
  declareInspect(line);
  declareAccounts(line);
  declareRecords(line);
  declareSetUp(line);
  declareHelp(line);
  declareCi(line);
  declareController(line);
}

/** Nine commands of every day are the first group of the help: these, those of `declareCore` and of `declareReview`. */
function declareStart({ program, add }: CommandLine): void {
  program.commandsGroup("Every day:");
  add(
    "init [dir]",
    "Create a config, schemas, workflows and records. Existing files are not changed. The records of a new project are created in the git remote origin.",
    async () => {
      const { runInit } = await import("../features/init/command.ts");
      return (context: Context<InitFlags>, dir: string | undefined) =>
        runInit(context, dir, {
          importAccount: async (at) => (await import("../features/import/command.ts")).runImport(at, []),
          createRecords: async (at) =>
            void (await (await import("../features/records/move-records-command.ts")).runMove(at, "init", undefined)),
        });
    },
  )
    .option("--from-live", "Then import the account at DIMSYNC_BASE_URL")
    .option("--ci <system>", "Write jobs for github, gitlab or none (default: by the host of the git remote)")
    .option("--approval", "In CI, apply only plans that a reviewer has approved")
    .option("--no-records", "Do not create records in the git remote");
  add(
    "import [address...]",
    "Write manifests and bindings for live objects. Adds to existing files, and leaves what a manifest covers as it is. Addresses can be globs; without any, everything is imported.",
    async () => (await import("../features/import/command.ts")).runImport,
  )
    .option("--out <dir>", "Directory for new files")
    .option("--dry-run", "Show the changes to the files, but write nothing")
    .option("--literal", "Write schemas as a literal tree instead of rules")
    .option("--assume-complete-lists", "Limit manifests to other targets even if a list of this one looks incomplete")
    .option("--suggest", "Instead, print a Classification for columns whose names look personal, as comments to confirm");
}

function declareCore({ add }: CommandLine): void {
  add(
    "validate [path...]",
    "Check manifests without reading the account. Reports all problems at once. Paths replace the manifests that the config names.",
    async () => (await import("../features/validate/command.ts")).runValidate,
  );
  const plan = add(
    "plan [path...]",
    "Show what apply would change. Sends only GET requests. Paths replace the manifests that the config names.",
    async () => (await import("../features/plan/command.ts")).runPlan,
  ).alias("diff");
  protectOnlyOption(planOptions(plan))
    .option("--out <file>", "Save the plan so that apply runs exactly this plan")
    .option("--detailed-exitcode", "Exit with 2 if there are changes");
  readOptions(plan);
  const apply = add(
    "apply [plan-file]",
    "Make the account match the manifests. With a plan file, apply runs exactly that plan, once. Without one, it makes a plan and asks for confirmation. It verifies every response and records the ids.",
    async () => {
      const [{ runApply }, { runPlan }] = await Promise.all([
        import("../features/apply/command.ts"),
        import("../features/plan/command.ts"),
      ]);
      return (context: Context<ApplyFlags>, file: string | undefined) =>
        context.flags.dryRun === true ? runPlan(context, []) : runApply(context, file);
    },
  );
  protectOnlyOption(planOptions(apply))
    .option("-y, --yes", "Do not ask for confirmation")
    .option("--dry-run", "Only plan, like dimsync plan")
    .option("--fail-fast", "Start nothing new after a failure")
    .option("--result <file>", "Write the result to this file as JSON")
    .option("--lock-timeout <duration>", "How long to wait for another apply to finish (default: 0)")
    .option("--max-plan-age <duration>", "Maximum age of a saved plan (default: 24h)");
  const drift = add(
    "drift [path...]",
    "Report drift between manifests and the account. Names who changed the account, from the audit log. Sends only GET requests. Exits with 2 if there is drift.",
    async () => (await import("../features/drift/command.ts")).runDrift,
  );
  readOptions(planOptions(drift, "exposed, stricter"))
    .option("--since <time>", "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)")
    .option("--no-attribution", "Do not read the audit log")
    .option("--notify <source>", "Post to a webhook if the drift changed; its URL is in env:NAME or file:PATH")
    .option("--no-notify", "Do not post to the webhook in the config")
    .addOption(new Option("--notify-format <format>", "Format of the notification: json or slack").choices(["json", "slack"]))
    .addOption(
      new Option("--resolve <how>", "accept: change the manifests to match the account; revert: save a plan that undoes the drift").choices(
        ["accept", "revert"],
      ),
    )
    .option("--out <file>", "Plan file that --resolve revert writes (default: revert.plan.json)");
}

function declareReview({ add }: CommandLine): void {
  add(
    "explain <address> [path]",
    "Explain which rule decides a table or column. The path is SCHEMA[.TABLE[.COLUMN]]. Shows every rule that matches, the live value and the last changes in the audit log.",
    async () => (await import("../features/explain/command.ts")).runExplain,
  );
  add("show <file>", "Print a saved plan, drift report or result", async () => (await import("../features/show/command.ts")).runShow);
  add(
    "catalog <task> [args...]",
    "Accept new columns after review. Task: accept [ADDRESS [SCHEMA.TABLE[.COLUMN]]]. Writes the catalog file that the config names. Sends only GET requests.",
    async () => (await import("../features/catalog/command.ts")).runCatalog,
  ).option("--all", "Accept every new column, and remove every column that is gone");
}

function declareInspect({ program, add }: CommandLine): void {
  program.commandsGroup("Inspect:");
  add(
    "list [path...]",
    "List manifests with their live ids and files. Sends no request to the account.",
    async () => (await import("../features/list/command.ts")).runList,
  );
  add(
    "render [address]",
    "Print manifests with variables filled in. Secrets stay references.",
    async () => (await import("../features/render/command.ts")).runRender,
  )
    .option("--expand", "Replace the rules of schema configurations with the resulting settings of the account's tables and columns")
    .option("--snapshot <file>", "With --expand: read this snapshot instead of the account");
  add(
    "get <kind> [id]",
    "Print live integrations, tags, users or schemas. The id can be the address of a bound manifest. Sends only GET requests.",
    async () => (await import("../features/get/command.ts")).runGet,
  );
  add(
    "register",
    "Print what happens to every labelled column. Shows the rule and the exemption that apply. Sends only GET requests. Exits with 3 if a column breaks an error policy.",
    async () => (await import("../features/register/command.ts")).runRegister,
  )
    .addOption(repeatable("--label <name>", "Only columns with this label; repeatable"))
    .addOption(repeatable("--integration <name>", "Only integrations that match, such as 'shop-*'; repeatable"))
    .option("--diff <file>", "What changed since a register in JSON or CSV. Exits with 2 if anything did")
    .option("--snapshot <file>", "Read this snapshot instead of the account; needs no API key and no network");
  add(
    "audit",
    "Print the audit log. Newest entries first. Sends only GET requests.",
    async () => (await import("../features/audit/command.ts")).runAudit,
  )
    .option("--since <time>", "A date, a date and time, or an age such as 24h or 7d")
    .option("--until <time>", "Same formats (default: now)")
    .option("--actor <email>", "Only entries of this user");
}

function declareAccounts({ program, add }: CommandLine): void {
  program.commandsGroup("Accounts:");
  add(
    "snapshot",
    "Save the live state to a file, without secrets. Plans can read it instead of the account.",
    async () => (await import("../features/snapshot/command.ts")).runSnapshot,
  ).option("--out <file>", "File to write; compressed if larger than 1 MiB");
  add(
    "compare",
    "Compare two targets or snapshots. Exits with 2 if they differ.",
    async () => (await import("../features/compare/command.ts")).runCompare,
  )
    .option("--from <target|file>", "Target or snapshot file")
    .option("--to <target|file>", "Target or snapshot file");
}

function declareRecords({ program, add }: CommandLine): void {
  program.commandsGroup("Records:");
  add(
    "bind <address=id...>",
    "Record the live id of a manifest. With --accept, the argument is only the address.",
    async () => (await import("../features/records/bind-command.ts")).runBind,
  ).option("--accept", "Record that the live object now matches the manifest, after a change by hand");
  add("unbind <address...>", "Remove a recorded id", async () => (await import("../features/records/bind-command.ts")).runUnbind);
  add(
    "resolve [address]",
    "Resolve a create whose response was lost. Until then, its address is blocked.",
    async () => (await import("../features/records/resolve-command.ts")).runResolve,
  )
    .option("--created <id>", "The object was created with this id. Checked against the account and the audit log")
    .option("--not-created", "The object was not created")
    .option("--run <id>", "Instead of an address: every create that this run left open")
    .option("--force", "Even if the run that was unlocked may still send the create; needs --reason")
    .option("--reason <text>", "Why --force is safe; kept in the records");
  add(
    "records <task> [file]",
    "Show, lock, move and save records. Tasks: show, lock, unlock, init, migrate, export, restore, check.",
    async () => (await import("../features/records/records-command.ts")).runRecords,
  )
    .option("--log", "show: the newest 100 writes instead: when, by which run, and what changed")
    .option("--reason <text>", "lock: why; shown to everyone who finds the target locked")
    .option("--until <time>", "lock: when the lock ends, such as 2027-01-31T18:00:00Z")
    .option("--force", "unlock: without confirmation, even if the run may be alive; restore: even if the target has another name")
    .option("--to <store>", "init, migrate: folder, git, git:REF or postgres (default for init: git)")
    .option("--print", "init, migrate: print the config instead of writing dimsync.yaml");
}

/** "Set up", in the order of the help. */
function declareSetUp({ program, add }: CommandLine): void {
  program.commandsGroup("Set up:");
  add(
    "doctor",
    "Check the API key, service, clock and records",
    async () => (await import("../features/doctor/command.ts")).runDoctor,
  ).option("--all-integrations", "Read the schemas of every integration, not only of one");
  add(
    "fmt [path...]",
    "Rewrite manifests in canonical form. Prints the names of changed files.",
    async () => (await import("../features/fmt/command.ts")).runFmt,
  ).option("--check", "Change nothing; exit with 2 if a file would change");
  add(
    "serve",
    "Run the embedded service on localhost. For demos and tests.",
    async () => (await import("../features/serve/command.ts")).runServe,
  )
    .option("--port <n>", "Port on 127.0.0.1 (default: a free port)")
    .option("--data <file>", "Keep the account in this file (default: in memory)")
    .option("--latency <ms>", "Delay each response")
    .addOption(repeatable("--faults <spec>", "METHOD PATHREGEX[@NTH]=ACTION[:ARG], such as 'POST /v1/assets=reset-after'; repeatable"))
    .option("--observed", "Answer as the public descriptions of the service show it, not as its interface document does")
    .option("--schema-form <form>", "Form of GET schemas: camel (with columns, default) or snake (without columns)")
    .option("--paging <style[:size]>", "Paging of lists: none (default), totalItems, total, nextCursor, hasMore or silent")
    .option("--error-body <form>", "Form of error bodies: envelope (default), nested, status, message, list, mixed, plain, empty or echo")
    .option("--discover-after <n>", "Show the schemas of a new integration only after n requests")
    .addOption(repeatable("--person <email>", "Add an API key for this user; repeatable"));
  add(
    "mcp",
    "Serve the read-only commands to agents (MCP). Runs a Model Context Protocol server on stdin and stdout, until stdin ends. Sends only GET requests.",
    async () => {
      const [{ runMcp }, { tools }] = await Promise.all([import("../features/mcp/mcp.ts"), import("./tools.ts")]);
      return (context) => runMcp(context, tools);
    },
  );
  add(
    "schema [kind]",
    "Print a JSON Schema for editors. With the names of an account, editors complete schemas, tables and columns.",
    async () => (await import("../features/schema/command.ts")).runSchema,
  )
    .option("--from-live", "Add the schema, table and column names of the account. Sends only GET requests")
    .option("--snapshot <file>", "Add the names in this snapshot; needs no API key and no network")
    .addOption(repeatable("--integration <name>", "Only the names of integrations that match, such as 'shop-*'; repeatable"));
}

/** The rest of "Set up": completion, version and help. */
function declareHelp({ program, io, done, add }: CommandLine): void {
  add(
    "completion <shell>",
    "Print a completion script. Shells: bash, zsh, fish.",
    async () => (await import("../features/completion/command.ts")).runCompletion,
  );
  // Completion scripts call it.
  program.command("completion-words [line] [described]", { hidden: true }).action(async (line: string = "", described?: string) => {
    const { runWords } = await import("../features/completion/command.ts");
    done(await runWords(contextOf(io, program.opts<GlobalFlags>()), program, { line, isDescribed: described !== undefined }));
  });
  add("version", "Print the version", async () => async ({ flags }) => {
    io.stdout(flags.output.includes("json") ? `${JSON.stringify({ version, node: process.versions.node })}\n` : `${version}\n`);
    return 0;
  });
  add("help [command]", "Print help for a command", async () => async (_, name?: string) => {
    const command = name === undefined ? program : program.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (command === undefined) throw (await import("./usage-error.ts")).unknownCommand(name ?? "", program);
    command.outputHelp();
    return 0;
  });
}

function declareCi({ program, add }: CommandLine): void {
  program.commandsGroup("CI:");
  const ci = add(
    "ci <task> [plan-file]",
    "Run plan, apply or drift as a CI job. Runs in GitHub Actions and GitLab CI. Comments on the pull request, and keeps an issue about drift up to date. Pushes the bindings file if the target has one. With a plan file, ci apply runs exactly that plan.",
    async () => (await import("../features/ci/ci.ts")).runCi,
  );
  protectOnlyOption(planOptions(ci))
    .option("--out <file>", "plan: save the plan")
    .option("--no-comment", "plan: do not comment on the pull request")
    .option("--no-issue", "drift: do not open or update an issue")
    .option("--pull-request", "drift: keep a pull request for each target that accepts its drift into the manifests and the catalog")
    .option("--bindings <how>", "apply, without records in git or PostgreSQL: push the bindings file (default), upload or none")
    .option("--fail-fast", "apply: start nothing new after a failure")
    .option("--lock-timeout <duration>", "apply: how long to wait for another apply to finish")
    .option("--max-plan-age <duration>", "apply: maximum age of a saved plan (default: 24h)");
}

function declareController({ program, add }: CommandLine): void {
  program.commandsGroup("Controller:");
  add(
    "controller <task> [name]",
    "Check accounts continuously. Tasks: run, push, bundles, rollback, status, check, suspend, resume, silence, acknowledge, notify, history. run checks every account at its interval, repairs what its mode allows, and serves a status page; start it on several machines to share the work. The others use a running controller.",
    async () => (await import("../features/controller/commands/controller.ts")).runControllerTask,
  )
    .option("--database <url>", "PostgreSQL of the controller (also DIMSYNC_DATABASE_URL). Default: an embedded one, for one process")
    .option("--state <dir>", "Directory of the embedded database and caches (default: .dimsync/controller; also DIMSYNC_CONTROLLER_STATE)")
    .option("--watch", "run: use the project in the working directory, and load it again when its files change")
    .option(
      "--listen <host:port>",
      "run: where the status page listens (default: 127.0.0.1:8480). Other addresses need DIMSYNC_CONTROLLER_TOKEN or --trust-proxy-header",
    )
    .option("--trust-proxy-header <name>", "run: header in which a reverse proxy names the user it authenticated")
    .option("--base-path <path>", "run: path of the status page's URL behind a proxy, such as /dimsync")
    .option("--public-url <url>", "run: URL of the status page, for links in notifications")
    .option("--role <role>", "run: all (default), worker or page")
    .option("--accounts-at-once <n>", "run: accounts that this process checks at once (default: 8)")
    .option("--accounts-per-host <n>", "run: accounts of one host that all processes check at once (default: 4)")
    .option("--max-mode <mode>", "run: highest mode of accounts, report or protect")
    .option("--log-format <format>", "run: text (default) or json: one object for each line, with level, account, run, worker and trace id")
    .option("--force", "push: replace a bundle although this one does not follow it; needs --reason")
    .option("--allow-removal", "push, rollback: end accounts that the project no longer has; their history is kept")
    .option("--source <name>", "push: name of the project (default: the repository, such as example/config). notify: only its receivers")
    .option("--wait", "check: wait for the result, print it, and exit as drift does")
    .option("--label <name=value>", "suspend, resume, silence: all accounts with this label")
    .option("--all", "suspend, resume, silence: all accounts")
    .option("--until <time>", "suspend, silence: when it ends, such as 2h or 2027-01-31T18:00:00Z")
    .option("--reason <text>", "suspend, silence, acknowledge, rollback, push --force: why; shown to others")
    .option("--test", "notify: send a message that shows whether the receivers can be reached");
}
