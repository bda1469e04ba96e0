import { type Command, Option } from "commander";
import { version } from "../core/model/runtime/version.ts";
import { globalOptions, type Options } from "./flags.ts";

export function addOptions(command: Command, options: Options): Command {
  for (const [flags, said] of Object.entries(options)) {
    const option = new Option(flags, typeof said === "string" ? said : said.text);
    if (typeof said !== "string" && "repeatable" in said) option.argParser(collect).default([], "");
    if (typeof said !== "string" && "choices" in said) option.choices(said.choices);
    command.addOption(option);
  }
  return command;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Options of every command. */
export const addGlobalOptions = (program: Command): Command =>
  addOptions(program.optionsGroup("Global options:"), globalOptions)
    .version(version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print help");
