/** A man page, dimsync(1), of the commander program; what the environment and the exit codes mean is taken from the tables of docs/commands.md. */
export function manPage(program, version, commandsText) {
  const commands = program.commands.filter((command) => command._hidden !== true);
  const sections = [
    ["NAME", `dimsync \\- ${text(lower(program.description()))}`],
    ["SYNOPSIS", ".B dimsync\n.I COMMAND\n.RI [ OPTION .\\|.\\|.]\\&\n.RI [ ARGUMENT .\\|.\\|.]"],
    ["DESCRIPTION", description],
    ["COMMANDS", commands.map(commandText).join("\n")],
    ["OPTIONS OF EVERY COMMAND", optionsText(program.options)],
    ["ENVIRONMENT", tableText(commandsText, "Environment")],
    ["EXIT STATUS", `${tableText(commandsText, "Exit codes")}\n.PP\nOf several the most serious counts: 1, 5, 6, 3, 4, 2, 0.`],
    ["FILES", files],
    ["EXAMPLES", examples],
  ];
  return `.\\" Made by docs/generate.mjs. Change what it is made from, and run it again.
.TH DIMSYNC 1 "" "dimsync ${text(version)}" "User Commands"
.nh
.ad l
${sections.map(([title, body]) => `.SH ${title}\n${body}\n`).join("")}`;
}

const description = `Manifests in git say how integrations, assets, tags and schemas of a data integration service are meant to be.
.B dimsync plan
shows what would change, with the calls that it takes;
.B dimsync apply
makes exactly those calls, verifies them and records the ids;
.B dimsync drift
tells where the account differs, who changed it and what to do.
.PP
Standard output holds one document, in the format that
.B \\-o
names; all else goes to standard error.`;

const files = `.TP
.I dimsync.yaml
The config: where manifests are, the accounts, guards. Found upward from the working folder.
.TP
.I dimsync.bindings.yaml
Which live object each manifest means. Written by dimsync; commit it.
.TP
.I .dimsync/
The journal of creates, the lock. Not for git.`;

const examples = `.nf
dimsync validate
dimsync plan \\-\\-out plan.json && dimsync apply plan.json
dimsync apply \\-\\-yes
dimsync drift \\-o markdown=drift.md
.fi`;

function commandText(command) {
  const args = command.registeredArguments.map((one) => {
    const name = text(one.variadic ? `${one.name()}...` : one.name());
    return one.required ? ` \\fI${name}\\fR` : ` [\\fI${name}\\fR]`;
  });
  const alias = command.alias() === undefined ? "" : ` Also called \\fB${text(command.alias())}\\fR.`;
  const head = `.SS dimsync ${text(command.name())}${args.join("")}`;
  return `${head}\n${text(sentence(command.description()))}${alias}${command.options.length === 0 ? "" : `\n${optionsText(command.options)}`}`;
}

const optionsText = (options) =>
  options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description: what }) => `.TP\n.B ${text(flags)}\n${text(sentence(what))}`)
    .join("\n");

/** The rows of the table below a heading, without their Markdown. */
function tableText(page, heading) {
  const [, section = ""] = new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(page) ?? [];
  const rows = [...section.matchAll(/^\| (.*?) \| (.*) \|$/gm)].slice(1);
  if (rows.length === 0) throw new Error(`docs/commands.md has no table below ${heading}.`);
  return rows.map(([, name, what]) => `.TP\n.B ${text(name.replaceAll("`", ""))}\n${text(sentence(what.replaceAll("`", "")))}`).join("\n");
}

/** Text as roff takes it literally. */
const text = (value) =>
  String(value)
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", ".\\|.\\|.")
    .replaceAll("·", "\\(pc")
    .replace(/^([.'])/, "\\&$1");

const lower = (value) => value.slice(0, 1).toLowerCase() + value.slice(1).replace(/\.$/, "");
const sentence = (value) => `${value.slice(0, 1).toUpperCase()}${value.slice(1)}${/[.:]$/.test(value) ? "" : "."}`;
