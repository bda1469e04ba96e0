import { type Command, Option } from "commander";
import { version } from "../core/model/runtime/version.ts";

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
/** An option that can be given several times. */
export const repeatable = (flags: string, description: string): Option => new Option(flags, description).argParser(collect).default([], "");

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
        "Output format: human (default), json, markdown, html, sarif, junit or github; repeatable, only one without a path",
      ),
    )
    .option("--concurrency <n>", "Maximum number of concurrent requests")
    .option("--rate <n>", "Maximum number of requests per second")
    .option("--timeout <duration>", "Timeout for each request: seconds, or a duration such as 30s or 5m")
    .option("--retries <n>", "Maximum number of retries for a failed read")
    .option("--read-only", "Refuse every request that writes")
    .option("--allow-code", "Run the secret commands of the project (also DIMSYNC_ALLOW_CODE=1)")
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
export function planOptions(command: Command, risks = "exposes, loosened"): Command {
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
        "Lift a guard: maxCreates, maxExposedColumns, maxChangedPercent, maxRemovedRelations, exposureWindow, policy, unreviewed, outsideChanges, loosened or planDiffers; repeatable",
      ),
    )
    .addOption(repeatable("--ignore <address[:/path]>", "Ignore differences of this address or path; repeatable"))
    .option("--write-secrets [glob]", "Send the connections of matching assets again (all assets without a glob)")
    .option("--assume-complete-lists", "Create objects even if a list looks incomplete or the audit log cannot be read")
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
