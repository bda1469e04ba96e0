import { cell, code, table } from "./markdown.mjs";

/** A page with every command, its arguments and its flags, from the commander program. */
export function commandPage(program) {
  const commands = program.commands.filter((command) => command._hidden !== true);
  const sections = commands.map((command) => {
    const names = [command.name(), ...command.aliases()].map((name) => `\`${name}\``).join(", ");
    const usage = ["dimsync", command.name(), ...command.registeredArguments.map(argument)].join(" ");
    const flags = command.options.length === 0 ? "" : `\n\n${flagTable(command.options)}`;
    return `## ${names}\n\n${sentence(command.description())}\n\n    ${usage}${flags}`;
  });
  return `# Commands\n\n${sentence(program.description())}\n\n${sections.join("\n\n")}\n\n## Flags of every command\n\n${flagTable(program.options)}\n`;
}

const argument = (one) => {
  const name = one.variadic ? `${one.name()}...` : one.name();
  return one.required ? `<${name}>` : `[${name}]`;
};

const flagTable = (options) =>
  table(
    ["flag", "what it does"],
    options.filter(({ hidden }) => !hidden).map(({ flags, description }) => [code(flags), cell(description)]),
  );

const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
