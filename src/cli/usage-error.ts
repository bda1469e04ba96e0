import type { Command, CommanderError } from "commander";
import { DimsyncError } from "../core/base/model/errors.ts";
import { capitalized } from "../core/base/text/describe.ts";

/** Options of other tools, with what to use instead. */
const habits: ReadonlyMap<string, string> = new Map([
  ["auto-approve", "To skip the confirmation, use --yes."],
  ["force", 'There is no --force. To lift a guard, name it: --allow NAME="reason".'],
  ["select", "To select addresses, use --only."],
  ["refresh-only", "To compare without applying, use dimsync drift."],
  ["filename", "The config names the manifests. To select some of them, use --only."],
  ["base-url", "To choose the account without a config, set the variable DIMSYNC_BASE_URL."],
  ["api-key", "No option takes the API key. Set the variable DIMSYNC_API_KEY."],
  ["json", "For JSON, use -o json."],
]);

/** Commander's error in the form of all other errors, with the help command for the command line. */
export function usageError(error: CommanderError, program: Command, argv: readonly string[]): DimsyncError {
  // "error: unknown option '--foo'\n(Did you mean --four?)"
  const [what = "", hint = ""] = error.message.replace(/^error: /u, "").split("\n");
  const sentence = capitalized(what).replace(/\.?$/u, ".");
  const word = /^commander\.unknown(?:Option|Command)$/u.test(error.code) ? /'-{0,2}([\w-]+)/u.exec(what)?.[1] : undefined;
  const suggestion = habits.get(word === "f" ? "filename" : (word ?? "")) ?? hint.replace(/^\(|\)$/gu, "");
  return new DimsyncError("E_USAGE", suggestion === "" ? sentence : `${sentence} ${suggestion}`, { command: helpCommand(program, argv) });
}

/** `-target=x`, which commander reads as `-t` with the value "arget=x". Returns the error, if there is one. */
export function singleDashError(program: Command, argv: readonly string[]): DimsyncError | undefined {
  const known = new Set([program, ...program.commands].flatMap(({ options }) => options.map(({ long }) => long ?? "")));
  const end = argv.indexOf("--");
  for (const word of end === -1 ? argv : argv.slice(0, end)) {
    const [, name = "", value = ""] = /^-([a-z][a-z-]+)(=.*)?$/su.exec(word) ?? [];
    if (!known.has(`--${name}`) && !habits.has(name)) continue;
    const instead = habits.get(name) ?? `Long options start with two dashes: --${name}${value}`;
    const only = name === "target" ? ". It selects a target of the config. To select addresses, use --only" : "";
    return new DimsyncError("E_USAGE", `Unknown option '${word}'. ${instead}${only}${instead.endsWith(".") ? "" : "."}`, {
      command: helpCommand(program, argv),
    });
  }
  return undefined;
}

function helpCommand(program: Command, argv: readonly string[]): string {
  const command = program.commands.find((one) => argv.includes(one.name()));
  return command === undefined ? "dimsync --help" : `dimsync ${command.name()} --help`;
}
