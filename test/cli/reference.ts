import type { Argument, Command, Option } from "commander";
import { makeProgram } from "../../src/cli.ts";
import type { Io } from "../../src/commands/shared/io.ts";

/** An io that fails a test which prints. */
const silent: Io = {
  stdout: (text) => {
    throw new Error(`stdout: ${text}`);
  },
  stderr: (text) => {
    throw new Error(`stderr: ${text}`);
  },
  stdoutIsTty: false,
  stderrIsTty: false,
  stdinIsTty: false,
  columns: 100,
  env: {},
  cwd: "/",
  ask: async () => "",
  interrupted: new AbortController().signal,
};

const program = (): Command => makeProgram(silent, () => {}).program;

// One that only completion scripts call.
const shown = (command: Command): boolean => !("_hidden" in command && command._hidden === true);

/** Names of the commands that a user sees, in the order of the help. */
export const commandNames = (): readonly string[] =>
  program()
    .commands.filter(shown)
    .map((command) => command.name());

/** docs/commands.md: every command and flag, read off the program. */
export function commandReference(): string {
  const whole = program();
  return `# Commands

<!-- Made from the program itself: npx vitest run test/cli/documents.test.ts -u -->

\`dimsync COMMAND --help\` prints the same. Flags can stand before or after the command. What each command promises in full is in the other
pages of this folder.

${whole.commands.filter(shown).map(commandSection).join("\n")}
## Flags of every command

${optionTable(whole.options.filter(({ long }) => long !== "--version"))}
## Environment

| variable | meaning |
|---|---|
| \`DIMSYNC_API_KEY\`, \`DIMSYNC_API_KEY_FILE\` | the API key, or a file that holds it |
| \`DIMSYNC_BASE_URL\` | where the service is; wins over the config file's |
| \`DIMSYNC_CONFIG\`, \`DIMSYNC_TARGET\` | as \`--config\` and \`-t\` |
| \`DIMSYNC_VAR_NAME\` | the variable NAME of the manifests |
| \`DIMSYNC_READ_ONLY=1\` | refuse every call that writes; no flag overrides it |
| \`DIMSYNC_DIGEST_KEY\` | signs saved plans, and is needed to apply them |
| \`NO_COLOR\`, \`FORCE_COLOR\` | colour off or on, wherever the output goes |
| \`HTTPS_PROXY\`, \`NO_PROXY\`, \`NODE_EXTRA_CA_CERTS\` | as everywhere |

A flag wins over the environment, the environment over the target, the target over the rest of the config file.

## Exit codes

| code | meaning |
|---|---|
| 0 | done; for \`plan\` also "there are changes" unless \`--detailed-exitcode\` |
| 1 | error: usage, config, validation, ambiguous identity, missing secret, service, incomplete read |
| 2 | changes (\`plan --detailed-exitcode\`), drift (\`drift\`), or what \`--fail-on\` names |
| 3 | a guard or an error-severity policy refuses; a protected target without a saved plan |
| 4 | apply incomplete: something failed, is unknown, blocked, deferred or skipped, or did not converge |
| 5 | saved plan stale, expired, for another target, tampered with, or already applied |
| 6 | lock held by another run |
| 130 | interrupted |

Of several the most serious counts: 1, 5, 6, 3, 4, 2, 0.
`;
}

function commandSection(command: Command): string {
  const alias = command.alias();
  const usage = ["dimsync", command.name(), ...command.registeredArguments.map(argumentText)].join(" ");
  return `## \`${usage}\`

${sentence(command.description())}${alias === undefined ? "" : ` Also called \`${alias}\`.`}
${command.options.length === 0 ? "" : `\n${optionTable(command.options)}`}`;
}

function argumentText(argument: Argument): string {
  const text = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${text}>` : `[${text}]`;
}

const optionTable = (options: readonly Option[]): string =>
  `| flag | meaning |\n|---|---|\n${options.map(({ flags, description }) => `| \`${flags.replaceAll("|", "\\|")}\` | ${cellText(description)} |\n`).join("")}`;

const cellText = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("*", "\\*");
const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
