import type { Command } from "commander";
import type { ExitCode } from "../core/model/exit.ts";
import { version } from "../core/model/runtime/version.ts";
import { type Context, contextOf } from "./context.ts";
import type { ApplyFlags, FlagsOf, GlobalFlags, InitFlags, Options } from "./flags.ts";
import * as options from "./flags.ts";
import type { Io } from "./io.ts";

/** What a command does; `Args` are the arguments that its usage declares. */
export type Run<Flags extends GlobalFlags, Args extends readonly unknown[]> = (context: Context<Flags>, ...args: Args) => Promise<ExitCode>;

/** Declares a command. `usage` is its name and arguments; `load` imports its code, so that no command loads that of another. */
export type Add = <O extends Options = Record<never, never>, Args extends readonly unknown[] = readonly []>(
  usage: string,
  description: string,
  load: () => Promise<Run<GlobalFlags & FlagsOf<O>, Args>>,
  options?: O,
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
    options.initOptions,
  );
  add(
    "import [address...]",
    "Write manifests and bindings for live objects. Adds to existing files, and leaves what a manifest covers as it is. Addresses can be globs; without any, everything is imported.",
    async () => (await import("../features/import/command.ts")).runImport,
    options.importOptions,
  );
}

function declareCore({ add }: CommandLine): void {
  add(
    "validate [path...]",
    "Check manifests without reading the account. Reports all problems at once. Paths replace the manifests that the config names.",
    async () => (await import("../features/validate/command.ts")).runValidate,
  );
  add(
    "plan [path...]",
    "Show what apply would change. Sends only GET requests. Paths replace the manifests that the config names.",
    async () => (await import("../features/plan/command.ts")).runPlan,
    { ...options.comparisonOptions(), ...options.protectOnlyOption, ...options.savePlanOptions, ...options.readOptions },
  ).alias("diff");
  add(
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
    { ...options.comparisonOptions(), ...options.protectOnlyOption, ...options.applyOptions },
  );
  add(
    "drift [path...]",
    "Report drift between manifests and the account. Names who changed the account, from the audit log. Sends only GET requests. Exits with 2 if there is drift.",
    async () => (await import("../features/drift/command.ts")).runDrift,
    { ...options.comparisonOptions("exposed, stricter"), ...options.readOptions, ...options.driftOptions },
  );
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
    options.catalogOptions,
  );
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
    options.renderOptions,
  );
  add(
    "get <kind> [id]",
    "Print live integrations, tags, users or schemas. The id can be the address of a bound manifest. Sends only GET requests.",
    async () => (await import("../features/get/command.ts")).runGet,
  );
  add(
    "register",
    "Print what happens to every labelled column. Shows the rule and the exemption that apply. Sends only GET requests. Exits with 3 if a column breaks an error policy.",
    async () => (await import("../features/register/command.ts")).runRegister,
    options.registerOptions,
  );
  add(
    "audit",
    "Print the audit log. Newest entries first. Sends only GET requests.",
    async () => (await import("../features/audit/command.ts")).runAudit,
    options.auditOptions,
  );
}

function declareAccounts({ program, add }: CommandLine): void {
  program.commandsGroup("Accounts:");
  add(
    "snapshot",
    "Save the live state to a file, without secrets. Plans can read it instead of the account.",
    async () => (await import("../features/snapshot/command.ts")).runSnapshot,
    options.snapshotOptions,
  );
  add(
    "compare",
    "Compare two targets or snapshots. Exits with 2 if they differ.",
    async () => (await import("../features/compare/command.ts")).runCompare,
    options.compareOptions,
  );
}

function declareRecords({ program, add }: CommandLine): void {
  program.commandsGroup("Records:");
  add(
    "bind <address=id...>",
    "Record the live id of a manifest. With --accept, the argument is only the address.",
    async () => (await import("../features/records/bind-command.ts")).runBind,
    options.bindOptions,
  );
  add("unbind <address...>", "Remove a recorded id", async () => (await import("../features/records/bind-command.ts")).runUnbind);
  add(
    "resolve [address]",
    "Resolve a create whose response was lost. Until then, its address is blocked.",
    async () => (await import("../features/records/resolve-command.ts")).runResolve,
    options.resolveOptions,
  );
  add(
    "records <task> [file]",
    "Show, lock, move and save records. Tasks: show, lock, unlock, init, migrate, export, restore, check.",
    async () => (await import("../features/records/records-command.ts")).runRecords,
    options.recordsOptions,
  );
}

/** "Set up", in the order of the help. */
function declareSetUp({ program, add }: CommandLine): void {
  program.commandsGroup("Set up:");
  add(
    "doctor",
    "Check the API key, service, clock and records",
    async () => (await import("../features/doctor/command.ts")).runDoctor,
    options.doctorOptions,
  );
  add(
    "fmt [path...]",
    "Rewrite manifests in canonical form. Prints the names of changed files.",
    async () => (await import("../features/fmt/command.ts")).runFmt,
    options.fmtOptions,
  );
  add(
    "serve",
    "Run the embedded service on localhost. For demos and tests.",
    async () => (await import("../features/serve/command.ts")).runServe,
    options.serveOptions,
  );
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
    options.schemaOptions,
  );
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
  add(
    "ci <task> [plan-file]",
    "Run plan, apply or drift as a CI job. Runs in GitHub Actions and GitLab CI. Comments on the pull request, and keeps an issue about drift up to date. Pushes the bindings file if the target has one. With a plan file, ci apply runs exactly that plan.",
    async () => (await import("../features/ci/ci.ts")).runCi,
    { ...options.comparisonOptions(), ...options.protectOnlyOption, ...options.ciOptions },
  );
}

function declareController({ program, add }: CommandLine): void {
  program.commandsGroup("Controller:");
  add(
    "controller <task> [name]",
    "Check accounts continuously. Tasks: run, push, bundles, rollback, status, check, suspend, resume, silence, acknowledge, notify, history. run checks every account at its interval, repairs what its mode allows, and serves a status page; start it on several machines to share the work. The others use a running controller.",
    async () => (await import("../features/controller/commands/controller.ts")).runControllerTask,
    options.controllerOptions,
  );
}
