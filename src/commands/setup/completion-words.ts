import type { Command, Option } from "commander";
import { schemaNames } from "../../manifests/schema/lookup.ts";
import { formats } from "../../render/formats.ts";
import { liveKinds } from "../inspect/get.ts";
import { type CommandLineWords, shells } from "./completion.ts";

const ofAddresses: readonly string[] = ["bind", "unbind", "resolve", "render", "explain", "import"];

/** The words that completion offers, from the program. */
export function commandLineWords(program: Command): CommandLineWords {
  const commands = program.commands.filter((command) => !command.name().startsWith("completion-"));
  const takes: Readonly<Record<string, readonly string[]>> = {
    get: liveKinds,
    schema: schemaNames,
    completion: shells,
    ci: ["plan", "apply", "drift"],
    help: commands.map((command) => command.name()),
  };
  const options = [program, ...commands].flatMap((command) => command.options);
  return {
    commands: commands.map((command) => {
      const name = command.name();
      const words = takes[name] ?? (command.registeredArguments.length === 0 ? [] : "files");
      return {
        name,
        description: command.description(),
        flags: flagsOf(command.options),
        takes: ofAddresses.includes(name) ? "addresses" : words,
      };
    }),
    flags: flagsOf(program.options),
    valued: [...new Set(flagsOf(options.filter(({ required }) => required)))],
    addressed: ["--only", "--exclude", "--ignore"],
    formats: Object.keys(formats),
  };
}

const flagsOf = (options: readonly Option[]): readonly string[] => options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());
