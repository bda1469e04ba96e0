import { type Context, contextOf } from "./cli/context.ts";
import type { FmtFlags, GlobalFlags, InitFlags, SchemaFlags, ServeFlags } from "./cli/flags.ts";
import type { CommandLine } from "./cli-declare.ts";
import { schemaOptions, serveOptions } from "./cli-options.ts";
import { version } from "./model/runtime/version.ts";

/** "Set up", in the order of the help. */
export function declareSetUp({ program, add }: CommandLine): void {
  program.commandsGroup("Set up:");
  add<InitFlags, readonly [directory?: string]>(
    "init [dir]",
    "Create a config, schemas, workflows and records. Existing files are not changed. The records of a new project are created in the git remote origin.",
    async (context, directory) => (await import("./commands/setup/init.ts")).runInit(context, directory),
  )
    .option("--from-live", "Then import the account at DIMSYNC_BASE_URL")
    .option("--ci <system>", "Write jobs for github, gitlab or none (default: by the host of the git remote)")
    .option("--approval", "In CI, apply only plans that a reviewer has approved")
    .option("--no-records", "Do not create records in the git remote");
  add("doctor", "Check the API key, service, clock and records", async (context) =>
    (await import("./commands/setup/doctor.ts")).runDoctor(context),
  );
  add<FmtFlags, readonly [paths: readonly string[]]>(
    "fmt [path...]",
    "Rewrite manifests in canonical form. Prints the names of changed files.",
    async (context, paths) => (await import("./commands/setup/fmt.ts")).runFmt(context, paths),
  ).option("--check", "Change nothing; exit with 2 if a file would change");
  serveOptions(
    add<ServeFlags>("serve", "Run the embedded service on localhost. For demos and tests.", async (context) =>
      (await import("./commands/setup/serve.ts")).runServe(context),
    ),
  );
  add(
    "mcp",
    "Serve the read-only commands to agents (MCP). Speaks the Model Context Protocol over stdin and stdout, until stdin ends. Sends only GET requests.",
    async (context) => (await import("./mcp/mcp.ts")).runMcp(context),
  );
  schemaOptions(
    add<SchemaFlags, readonly [kind?: string]>(
      "schema [kind]",
      "Print a JSON Schema for editors. With the names of an account, editors complete schemas, tables and columns.",
      async (context, kind) => (await import("./commands/setup/schema.ts")).runSchema(context, kind),
    ),
  );
}

/** The rest of "Set up": completion, version and help. */
export function declareHelp({ program, io, done, add }: CommandLine): void {
  add<GlobalFlags, readonly [shell: string]>(
    "completion <shell>",
    "Print a completion script. Shells: bash, zsh, fish, powershell.",
    async (context, shell) => {
      const { commandLineWords, runCompletion } = await import("./commands/setup/completion.ts");
      return runCompletion(context, shell, commandLineWords(program));
    },
  );
  // Completion scripts call these.
  const context = (): Context => contextOf(io, program.opts<GlobalFlags>());
  for (const name of ["addresses", "targets", "paths"] as const)
    program
      .command(`completion-${name}`, { hidden: true })
      .action(async () => done(await (await import("./commands/setup/completion.ts")).runNames(context(), name)));
  program.command("completion-words [line]", { hidden: true }).action(async (line: string = "") => {
    const { commandLineWords, runWords } = await import("./commands/setup/completion.ts");
    done(await runWords(context(), line, commandLineWords(program)));
  });
  add("version", "Print the version", async ({ flags }) => {
    io.stdout(flags.output.includes("json") ? `${JSON.stringify({ version, node: process.versions.node })}\n` : `${version}\n`);
    return 0;
  });
  add<GlobalFlags, readonly [name?: string]>("help [command]", "Print help for a command", async (_, name) => {
    const command = name === undefined ? program : program.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (command === undefined) throw (await import("./cli/usage-error.ts")).unknownCommand(name ?? "", program);
    command.outputHelp();
    return 0;
  });
}
