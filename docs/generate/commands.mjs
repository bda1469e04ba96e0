import { cell, code, table } from "./markdown.mjs";

/** Every command with its arguments, options and examples, and the global options, from the commander program. */
export function commandSections(program, examples) {
  const commands = program.commands.filter((command) => command._hidden !== true);
  const groups = program.createHelp().groupItems(commands, commands, (command) => command.helpGroup().replace(":", ""));
  const sections = [...groups].map(
    ([group, ones]) => `## ${group}\n\n${ones.map((command) => commandSection(command, examples[command.name()])).join("\n\n")}`,
  );
  return `${sections.join("\n\n")}\n\n## Global options\n\n${optionTable(program.options)}\n`;
}

function commandSection(command, examples = []) {
  const names = [command.name(), ...command.aliases()].map((name) => `\`${name}\``).join(", ");
  const usage = ["dimsync", command.name(), ...command.registeredArguments.map(argument)].join(" ");
  const options = command.options.length === 0 ? "" : `\n\n${optionTable(command.options)}`;
  const shown = examples.length === 0 ? "" : `\n\nExamples:\n\n${examples.map((line) => `    ${line}`).join("\n")}`;
  return `### ${names}\n\n${sentence(command.description())}\n\n    ${usage}${options}${shown}`;
}

const argument = (one) => {
  const name = one.variadic ? `${one.name()}...` : one.name();
  return one.required ? `<${name}>` : `[${name}]`;
};

const optionTable = (options) =>
  table(
    ["option", "meaning"],
    options.filter(({ hidden }) => !hidden).map(({ flags, description }) => [code(flags), cell(description)]),
  );

const sentence = (text) => `${text}${text.endsWith(".") ? "" : "."}`;
