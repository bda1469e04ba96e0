import { type Command, Option } from "commander";
import { version } from "./model/runtime/version.ts";

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
/** An option that can be given several times. */
const repeatable = (flags: string, description: string): Option => new Option(flags, description).argParser(collect).default([], "");

/** Options of every command; src/cli/flags.ts has the types of all options. */
export function globalOptions(program: Command): void {
  program
    .optionsGroup("Global options:")
    .option("-C, --chdir <dir>", "Run as if started in this directory")
    .option("--config <file>", "Config file (default: dimsync.yaml, searched upward from the working directory)")
    .addOption(repeatable("-t, --target <name>", "Target to use; repeatable"))
    .option("--all-targets", "Use every target in the config")
    .addOption(repeatable("--var <name=value>", "Set a manifest variable; repeatable"))
    .addOption(repeatable("--var-file <file>", "Read manifest variables from a YAML file; repeatable"))
    .addOption(repeatable("--only <glob>", "Include only addresses that match, such as 'Schemas/*'; repeatable"))
    .addOption(repeatable("--exclude <glob>", "Exclude addresses that match; repeatable"))
    .addOption(
      repeatable(
        "-o, --output <format[=path]>",
        "Output format: human (default), json, ndjson, markdown, html, sarif, junit or github; repeatable, only one without a path",
      ),
    )
    .option("--concurrency <n>", "Maximum number of concurrent requests")
    .option("--rate <n>", "Maximum number of requests per second")
    .option("--timeout <duration>", "Timeout for each request: seconds, or a duration such as 30s or 5m")
    .option("--retries <n>", "Maximum number of retries for a failed read")
    .option("--read-only", "Refuse every request that writes")
    .option("--allow-code", "Run the policy modules and secret commands of the project (also DIMSYNC_ALLOW_CODE=1)")
    .addOption(repeatable("--allow-path <dir>", "Let the project name files in this directory too (also DIMSYNC_ALLOW_PATH); repeatable"))
    .option("--no-color", "Disable colors (also NO_COLOR)")
    .option("-q, --quiet", "Do not show progress")
    .option("-v, --verbose", "Show full detail")
    .option("--debug", "Print one line per request to stderr (also DIMSYNC_LOG=debug)")
    .version(version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print help");
}

/**
 * Options of plan, apply, drift and ci. `risks`: the values of --fail-on for changes of protection.
 */
export function planOptions(command: Command, risks = "exposes"): Command {
  return command
    .addOption(
      repeatable(
        "--fail-on <list>",
        `Exit with 2 if there are any of: changes, drift, ${risks}, unmanaged, unverifiable, manual, blocked, policy, unreviewed, impact, warnings`,
      ),
    )
    .addOption(
      repeatable(
        '--allow <name="reason">',
        "Lift a guard: maxCreates, maxExposedColumns, maxChangedPercent, exposureWindow, policy, unreviewed or outsideChanges; repeatable",
      ),
    )
    .addOption(repeatable("--ignore <address[:/path]>", "Ignore differences of this address or path; repeatable"))
    .option("--write-secrets [glob]", "Send the connections of matching assets again (all assets without a glob)")
    .option("--assume-complete-lists", "Treat lists as complete even if their length looks like a page size")
    .option("--metrics <file>", "Write Prometheus metrics to this file, for the textfile collector");
}

export const protectOnlyOption = (command: Command): Command =>
  command.option("--protect-only", "Send only changes that protect (hash or disable); report the others as held");

/** Options of plan and drift about what is read. */
export function readOptions(command: Command): Command {
  return command
    .option("--base <ref>", "Git ref to compare the manifests with, to tell config changes from drift")
    .option("--snapshot <file>", "Read this snapshot instead of the account; needs no API key and no network")
    .option("--list-unmanaged", "List the live columns that no rule and no literal entry covers");
}

export function driftOptions(drift: Command): void {
  drift
    .option("--since <time>", "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)")
    .option("--no-attribution", "Do not read the audit log")
    .option("--history <dir>", "Keep the reports in this directory and show how drift developed")
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

export function serveOptions(serve: Command): void {
  serve
    .option("--port <n>", "Port on 127.0.0.1 (default: a free port)")
    .option("--data <file>", "Keep the account in this file (default: in memory)")
    .option("--latency <ms>", "Delay each response")
    .addOption(repeatable("--faults <spec>", "METHOD PATHREGEX[@NTH]=ACTION[:ARG], such as 'POST /v1/assets=reset-after'; repeatable"))
    .option("--schema-form <form>", "Form of GET schemas: camel (with columns, default) or snake (without columns)")
    .option("--paging <style[:size]>", "Paging of lists: none (default), totalItems, total, nextCursor, hasMore or silent")
    .option("--error-body <form>", "Form of error bodies: envelope (default), plain, empty or echo")
    .option("--discover-after <n>", "Show the schemas of a new integration only after n reads")
    .addOption(repeatable("--person <email>", "Add an API key for this user; repeatable"));
}

export function schemaOptions(schema: Command): void {
  schema
    .option("--from-live", "Add the schema, table and column names of the account. Sends only GET requests")
    .option("--snapshot <file>", "Add the names in this snapshot; needs no API key and no network")
    .addOption(repeatable("--integration <name>", "Only the names of integrations that match, such as 'shop-*'; repeatable"));
}

export function registerOptions(register: Command): void {
  register
    .addOption(repeatable("--label <name>", "Only columns with this label; repeatable"))
    .addOption(repeatable("--integration <name>", "Only integrations that match, such as 'shop-*'; repeatable"))
    .option("--diff <time|file>", "What changed since then, or since a register in JSON or CSV. Exits with 2 if anything did")
    .option("--history <dir>", "Remember the register in this directory (default: .dimsync/register)")
    .option("--no-history", "Do not remember the register")
    .addOption(
      new Option(
        "--csv <form>",
        "Values of -o csv. safe (default): a spreadsheet runs none as a formula. raw: as they are, for programs",
      ).choices(["safe", "raw"]),
    )
    .option("--snapshot <file>", "Read this snapshot instead of the account; needs no API key and no network");
}

export function controllerOptions(controller: Command): void {
  controller
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
    .option("--max-mode <mode>", "run: treat accounts with a higher mode as report or protect")
    .option("--log-format <format>", "run: text (default) or json: one object for each line, with level, account, run, worker and trace id")
    .option("--force", "push: replace a bundle although this one does not follow it; needs --reason")
    .option("--allow-removal", "push, rollback: accounts may end that the project no longer has; their history is kept")
    .option("--source <name>", "push: name of the project (default: the repository, such as example/config). notify: only its receivers")
    .option("--wait", "check: wait for the result, print it, and exit as drift does")
    .option("--label <name=value>", "suspend, resume, silence: all accounts with this label")
    .option("--all", "suspend, resume, silence: all accounts")
    .option("--until <time>", "suspend, silence: when it ends by itself, such as 2h or 2027-01-31T18:00:00Z")
    .option("--reason <text>", "suspend, silence, acknowledge, rollback, push --force: why; shown to others")
    .option("--test", "notify: send a message that shows whether the receivers can be reached");
}
