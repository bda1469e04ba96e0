import type { Argument, Command, Help, Option } from "commander";
import type { ExitCode } from "../core/base/model/exit.ts";

/** Commander's help, with the commands before the options. */
export function formatHelp(command: Command, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const item = (term: string, description: string): string => helper.formatItem(term, width, description, helper);
  const commands = [...helper.groupItems([...command.commands], helper.visibleCommands(command), (one) => one.helpGroup())];
  const options = [...helper.groupItems([...command.options], helper.visibleOptions(command), (one) => one.helpGroupHeading ?? "Options:")];
  const section = (title: string, items: readonly string[]): string => [title, ...items, ""].join("\n");
  return [
    `Usage: ${helper.commandUsage(command)}`,
    "",
    helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
    "",
    ...commands.map(([title, ones]) =>
      section(
        title,
        ones.map((one) => item(helper.subcommandTerm(one), helper.subcommandDescription(one))),
      ),
    ),
    ...options.map(([title, ones]) =>
      section(
        title,
        ones.map((one) => item(helper.optionTerm(one), helper.optionDescription(one))),
      ),
    ),
  ].join("\n");
}

/** Commander would add "(choices: …)" and empty defaults. */
export const optionDescription = ({ description }: Option): string => description;

/** "plan [path...]", without "[options]". */
export function subcommandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" ");
}

function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** What follows the options: examples, then the exit codes or where the global options are. */
export function afterHelp(command: Command, lines: readonly string[]): string {
  const shown = lines.length === 0 ? [] : ["Examples:", ...lines.map((line) => `  ${line}`), ""];
  return [
    "",
    ...shown,
    command.parent === null ? exitCodesAt(command.configureOutput().getOutHelpWidth?.() ?? 80, command) : globalOptions,
  ].join("\n");
}

const globalOptions = 'Use "dimsync --help" for the global options (-C, --config, -t, --var, --only, -o, ...).';

const exitCodes = {
  0: "success",
  1: "error: usage, config, manifests, secrets, or a failed read",
  2: "changes (plan --detailed-exitcode), drift (drift), or what --fail-on names",
  3: "a guard or a policy refuses; for drift, the account violates a policy",
  4: "apply incomplete",
  5: "saved plan stale, expired, for another target, changed, or already applied",
  6: "locked by another run",
  130: "interrupted (129 after SIGHUP, 143 if SIGTERM ended the command at once)",
} as const satisfies Readonly<Record<ExitCode, string>>;

function exitCodesAt(helpWidth: number, command: Command): string {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth });
  const lines = Object.entries(exitCodes).map(([code, meaning]) => helper.formatItem(code, 3, meaning, helper));
  return [
    "Exit codes:",
    ...lines,
    "",
    helper.boxWrap('Use "dimsync <command> --help" for the options and examples of a command.', helpWidth),
  ].join("\n");
}

/** Of the program; a command declares its own. */
export const examples: readonly string[] = [
  "dimsync init --from-live  # manage an account that exists",
  "dimsync plan              # show what apply would change",
  "dimsync apply             # plan, ask, apply",
  "dimsync drift             # exit with 2 if there is drift",
];
