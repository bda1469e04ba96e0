import { cell, code, table } from "./markdown.mjs";

/** A page with every command, its arguments, options and examples, and the global options, from the commander program. */
export function commandsPage(program, examples) {
  const commands = program.commands.filter((command) => command._hidden !== true);
  const shared = sharedOptions(commands);
  const groups = program.createHelp().groupItems(commands, commands, (command) => command.helpGroup().replace(":", ""));
  const sections = [...groups].map(
    ([group, ones]) =>
      `## ${group}\n\n${ones.map((command) => commandSection(command, { shared, examples: examples[command.name()] })).join("\n\n")}`,
  );
  const several = `## Options of several commands\n\n${optionTable([...shared.values()])}`;
  return `# Commands\n\n${intro}\n\n${sections.join("\n\n")}\n\n${several}\n\n## Global options\n\n${optionTable(program.options)}\n`;
}

const intro =
  "Every command with its options and examples. `dimsync COMMAND --help` prints the same. [Commands](../commands.md) describes what they have in common.";

/** Options that at least three commands have, with the same description, by their flags and description. */
function sharedOptions(commands) {
  const all = commands.flatMap(({ options }) => options.filter(({ hidden }) => !hidden));
  return new Map(all.map((option) => [idOf(option), option]).filter(([id]) => all.filter((other) => idOf(other) === id).length >= 3));
}

const idOf = ({ flags, description }) => `${flags}\n${description}`;

function commandSection(command, { shared, examples = [] }) {
  const names = `\`${command.name()}\``;
  const usage = ["dimsync", command.name(), ...command.registeredArguments.map(argument)].join(" ");
  const own = command.options.filter((option) => !shared.has(idOf(option)));
  const others = command.options.filter((option) => shared.has(idOf(option))).map(({ long }) => code(long));
  return [
    `### ${names}`,
    sentence(command.description()),
    `    ${usage}`,
    own.length === 0 ? [] : optionTable(own),
    others.length === 0 ? [] : `[Also](#options-of-several-commands) ${others.join(", ")}.`,
    examples.length === 0 ? [] : ["Examples:", examples.map((line) => `    ${line}`).join("\n")],
  ]
    .flat()
    .join("\n\n");
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
