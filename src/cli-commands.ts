import { type Command, Option } from "commander";
import type { CompareFlags } from "./commands/adopt/compare.ts";
import type { ImportFlags } from "./commands/adopt/import.ts";
import type { SnapshotFlags } from "./commands/adopt/snapshot.ts";
import type { TestFlags } from "./commands/adopt/test-manifests.ts";
import type { DriftFlags } from "./commands/core/drift-actions.ts";
import type { AuditFlags } from "./commands/inspect/audit.ts";
import type { ExplainFlags } from "./commands/inspect/explain.ts";
import type { RenderFlags } from "./commands/inspect/render.ts";
import type { FmtFlags } from "./commands/setup/fmt.ts";
import type { InitFlags } from "./commands/setup/init.ts";
import type { ServeFlags } from "./commands/setup/serve.ts";
import { contextOf, version } from "./commands/shared/context.ts";
import type { ApplyFlags, CiFlags, GlobalFlags, PlanFlags } from "./commands/shared/flags.ts";
import type { Io } from "./commands/shared/io.ts";
import type { ExitCode } from "./model/exit.ts";

/** What a command does with its flags and arguments. */
export type Run<Flags extends GlobalFlags> = (flags: Flags, args: readonly (string | readonly string[] | undefined)[]) => Promise<ExitCode>;

/** Declares a command; its action imports what it needs when it runs. */
export type Add = <Flags extends GlobalFlags>(usage: string, description: string, run: Run<Flags>) => Command;

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
/** An option that may be given several times. */
export const repeatable = (flags: string, description: string): Option => new Option(flags, description).argParser(collect).default([], "");

/** Every command with its arguments and options, in the order of the help. */
export function declareCommands({
  program,
  io,
  done,
  add,
}: {
  readonly program: Command;
  readonly io: Io;
  readonly done: (code: ExitCode) => void;
  readonly add: Add;
}): void {
  const text = (value: string | readonly string[] | undefined): string | undefined => (typeof value === "string" ? value : undefined);
  const list = (value: string | readonly string[] | undefined): readonly string[] => (Array.isArray(value) ? value : []);
  const planFlags = (command: Command, risks = "exposes"): Command =>
    command
      .addOption(repeatable("--fail-on <what>", `exit 2 on: changes, drift, ${risks}, unmanaged, unverifiable, manual, blocked, warnings`))
      .addOption(
        repeatable('--allow <name="reason">', "lift a guard: maxCreates, maxExposedColumns, maxChangedPercent, exposureWindow, policy"),
      )
      .option("--metrics <file>", "write Prometheus text for the textfile collector")
      .option("--write-secrets [glob]", "send the connections of these assets again (all without a glob)")
      .option("--assume-complete-lists", "take a list of a round length for complete")
      .addOption(repeatable("--ignore <address[:/path]>", "leave this alone in this run; repeatable"));
  const baseFlag = (command: Command): Command =>
    command
      .option("--base <ref>", "a git ref: tell changes of the manifests since then from changes of the account")
      .option("--snapshot <file>", "read this instead of the account: no key, no network, nothing to apply")
      .option("--list-unmanaged", "name the live columns that no rule and no literal covers");

  program.commandsGroup("The main job:");
  add("validate [paths...]", "check manifests without the account", async (given, [paths]) =>
    (await import("./commands/core/validate.ts")).runValidate(contextOf(io, given), list(paths)),
  );
  const plan = planFlags(
    add<PlanFlags>("plan [paths...]", "show what apply would do; reads only", async (given, [paths]) =>
      (await import("./commands/core/plan.ts")).runPlan(contextOf(io, given), list(paths)),
    ),
  )
    .alias("diff")
    .option("--out <file>", "save the plan, to apply exactly it")
    .option("--detailed-exitcode", "exit 2 where there are changes");
  baseFlag(plan);
  planFlags(
    add<ApplyFlags>("apply [plan]", "make the account equal the manifests, or apply a saved plan", async (given, [file]) =>
      (await import("./commands/core/apply.ts")).runApply(contextOf(io, given), text(file)),
    ),
  )
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "the same as plan")
    .option("--fail-fast", "start nothing new after a failure")
    .option("--result <file>", "write the result as JSON")
    .option("--lock-timeout <duration>", "wait for another apply to end")
    .option("--max-plan-age <duration>", "how old a saved plan may be (24h)");
  const drift = planFlags(
    add<DriftFlags>("drift [paths...]", "report where the account differs; reads only, exit 2 on drift", async (given, [paths]) =>
      (await import("./commands/core/drift.ts")).runDrift(contextOf(io, given), list(paths)),
    ),
    "exposed, stricter",
  );
  baseFlag(drift)
    .option("--since <when>", "how far back the audit log is read (30d)")
    .option("--no-attribution", "do not read the audit log")
    .option("--history <dir>", "add the report to this folder, and show what went before")
    .option("--notify <where>", "post to a webhook when the drift changed; its URL is in env:NAME or file:PATH")
    .option("--no-notify", "do not post to the webhook that dimsync.yaml names")
    .addOption(new Option("--notify-format <format>", "body of the notification").choices(["json", "slack"]))
    .addOption(new Option("--resolve <how>", "accept: edit the manifests; revert: save a plan").choices(["accept", "revert"]))
    .option("--out <file>", "where --resolve revert saves its plan (revert.plan.json)");

  program.commandsGroup("Looking:");
  add<RenderFlags>("render [address]", "print the manifests with variables filled in", async (given, [address]) =>
    (await import("./commands/inspect/render.ts")).runRender(contextOf(io, given), text(address)),
  )
    .option("--expand", "schema configurations with their rules worked out over what is live; reads the account")
    .option("--snapshot <file>", "with --expand: read this instead of the account");
  add<ExplainFlags>(
    "explain <address> [path]",
    "why SCHEMA[.TABLE[.COLUMN]] is to be as it is; reads only",
    async (given, [address, path]) =>
      (await import("./commands/inspect/explain.ts")).runExplain(contextOf(io, given), text(address) ?? "", text(path)),
  ).option("--pointer <pointer>", "/SCHEMA/TABLE/COLUMN, for names with dots");
  add("show <file>", "render a saved plan or result", async (given, [file]) =>
    (await import("./commands/inspect/show.ts")).runShow(contextOf(io, given), text(file) ?? ""),
  );
  add(
    "get <kind> [id]",
    "print live objects: integrations, tags, users, schemas; by id or bound address; reads only",
    async (given, [kind, id]) => (await import("./commands/inspect/get.ts")).runGet(contextOf(io, given), text(kind) ?? "", text(id)),
  ).option("--raw", "the answer as it is");

  add<AuditFlags>("audit", "print the audit log; reads only", async (given) =>
    (await import("./commands/inspect/audit.ts")).runAudit(contextOf(io, given)),
  )
    .option("--since <when>", "a date, a date-time, or so long ago: 24h, 7d")
    .option("--until <when>", "likewise; default: now")
    .option("--actor <email>", "only this person's")
    .option("--raw", "the answers as they are, a page each");

  program.commandsGroup("Adopting an account:");
  add<ImportFlags>("import [addresses...]", "write manifests and bindings for what is live", async (given, [addresses]) =>
    (await import("./commands/adopt/import.ts")).runImport(contextOf(io, given), list(addresses)),
  )
    .option("--out <dir>", "where new files go")
    .option("--dry-run", "show, write nothing")
    .option("--literal", "schemas as the plain tree");
  add<SnapshotFlags>("snapshot", "save what the account shows, without secrets", async (given) =>
    (await import("./commands/adopt/snapshot.ts")).runSnapshot(contextOf(io, given)),
  ).option("--out <file>", "the file; compressed above 1 MiB");
  add<CompareFlags>("compare", "two targets or snapshots side by side", async (given) =>
    (await import("./commands/adopt/compare.ts")).runCompare(contextOf(io, given)),
  )
    .option("--from <target|file>", "a target or a snapshot")
    .option("--to <target|file>", "a target or a snapshot");
  add<TestFlags>("test [files...]", "assertions over manifests and the account", async (given, [files]) =>
    (await import("./commands/adopt/test-manifests.ts")).runTest(contextOf(io, given), list(files)),
  ).option("--snapshot <file>", "read this instead of the account");

  program.commandsGroup("Ids and unknown outcomes:");
  add("bind <address=id...>", "record which live object a manifest means", async (given, [texts]) =>
    (await import("./commands/records/bind.ts")).runBind(contextOf(io, given), list(texts)),
  ).option("--accept", "record that a person made the account equal the manifest");
  add("unbind <address...>", "forget a recorded id", async (given, [addresses]) =>
    (await import("./commands/records/bind.ts")).runUnbind(contextOf(io, given), list(addresses)),
  );
  add("resolve <address>", "say what became of a create whose answer was lost", async (given, [address]) =>
    (await import("./commands/records/bind.ts")).runResolve(contextOf(io, given), text(address) ?? ""),
  )
    .option("--created <id>", "it was created, as this id")
    .option("--not-created", "it was not created");

  program.commandsGroup("Starting and tools:");
  add<InitFlags>("init [dir]", "write a config, editor schemas and CI workflows", async (given, [dir]) =>
    (await import("./commands/setup/init.ts")).runInit(contextOf(io, given), text(dir)),
  ).option("--from-live", "then import what is live");
  add("doctor", "check key, service, lists, clock and records", async (given) =>
    (await import("./commands/setup/doctor.ts")).runDoctor(contextOf(io, given)),
  );
  add<FmtFlags>("fmt [paths...]", "write manifests in canonical form", async (given, [paths]) =>
    (await import("./commands/setup/fmt.ts")).runFmt(contextOf(io, given), list(paths)),
  ).option("--check", "change nothing; exit 2 where something would change");
  add<ServeFlags>("serve", "run the embedded service on loopback", async (given) =>
    (await import("./commands/setup/serve.ts")).runServe(contextOf(io, given)),
  )
    .option("--port <n>", "a port of 127.0.0.1 (default: a free one)")
    .option("--data <file>", "keep the account in this file (default: in memory)")
    .option("--latency <ms>", "wait before each answer")
    .addOption(repeatable("--faults <spec>", "METHOD PATHREGEX[@NTH]=ACTION[:ARG], such as 'POST /v1/assets=reset-after'; repeatable"))
    .option("--schema-form <form>", "camel (with columns) or snake (without)")
    .option("--paging <style:size>", "none, totalItems, total, nextCursor, hasMore, silent")
    .option("--error-body <form>", "envelope, plain, empty, echo")
    .option("--discover-after <n>", "schemas of new integrations appear after n reads")
    .addOption(repeatable("--person <email>", "a further key, of this person; repeatable"));
  add("schema [kind]", "print a JSON Schema", async (given, [kind]) =>
    (await import("./commands/setup/schema.ts")).runSchema(contextOf(io, given), text(kind)),
  );
  add("completion <shell>", "print a completion script: bash, zsh, fish", async (given, [shell]) => {
    const [{ runCompletion }, words] = await Promise.all([
      import("./commands/setup/completion.ts"),
      import("./commands/setup/completion-words.ts"),
    ]);
    return runCompletion(contextOf(io, given), text(shell) ?? "", words.commandLineWords(program));
  });
  planFlags(
    add<CiFlags>(
      "ci <task>",
      "plan, apply or drift as a job of GitHub Actions or GitLab CI: comment, issue, bindings pushed",
      async (given, [task]) => (await import("./commands/ci/ci.ts")).runCi(contextOf(io, given), text(task) ?? ""),
    ),
  )
    .option("--out <file>", "plan: save the plan")
    .option("--no-comment", "plan: no comment on the pull request")
    .option("--no-issue", "drift: no issue")
    .option("--bindings <what>", "apply: push (default), upload, none")
    .option("--fail-fast", "apply: start nothing new after a failure")
    .option("--lock-timeout <duration>", "apply: wait for another apply to end");
  program
    .command("completion-addresses", { hidden: true })
    .action(async () =>
      done(await (await import("./commands/shared/addresses.ts")).runAddresses(contextOf(io, program.opts<GlobalFlags>()))),
    );
  add("version", "print the version", async ({ output }) => {
    io.stdout(output.includes("json") ? `${JSON.stringify({ version, node: process.versions.node })}\n` : `${version}\n`);
    return 0;
  });
  add("help [command]", "explain a command", async (_, [name]) => {
    const command =
      name === undefined ? program : program.commands.find((one) => one.name() === name || one.aliases().includes(text(name) ?? ""));
    if (command === undefined) throw (await import("./commands/shared/usage-error.ts")).unknownCommand(text(name) ?? "", program);
    command.outputHelp();
    return 0;
  });
}
