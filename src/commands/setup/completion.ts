import type { Command, Option } from "commander";
import type { Context } from "../../cli/context.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { guardNames } from "../../engine/checks/guards.ts";
import { isIntegration, isSchemaConfig, schemasAddress } from "../../kinds/manifests.ts";
import { schemaNames } from "../../manifests/schema/lookup.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { liveKinds } from "../../operations/inspect/get.ts";
import { formats } from "../../render/formats.ts";

/** The words of the command line. Flags as typed: `--long` and `-s`. */
interface CommandLineWords {
  readonly commands: readonly {
    readonly name: string;
    readonly description: string;
    readonly flags: readonly string[];
    /** Its arguments: one of these words, addresses of manifests, or files. */
    readonly takes: readonly string[] | "addresses" | "files";
  }[];
  /** Global flags. */
  readonly flags: readonly string[];
  /** Flags with a value. */
  readonly valued: readonly string[];
  /** Flags whose value is an address or a glob of addresses. */
  readonly addressed: readonly string[];
  /** Flags whose value is the name of a target. */
  readonly targeted: readonly string[];
  /** Flags whose value is a guard, "=" and a reason. */
  readonly guarded: readonly string[];
  readonly formats: readonly string[];
}

/**
 * `dimsync completion SHELL`: prints a script that completes commands, flags, kinds, formats, guards,
 * files, and the targets, addresses and schema paths of the project.
 */
export async function runCompletion({ io }: Context, shell: string, words: CommandLineWords): Promise<ExitCode> {
  const make = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (make === undefined) throw new DimsyncError("E_USAGE", `Unknown shell ${JSON.stringify(shell)}. Shells: ${shells.join(", ")}.`);
  io.stdout(make(words));
  return 0;
}

const addresses = "$(dimsync completion-addresses 2>/dev/null)";
const targets = "$(dimsync completion-targets 2>/dev/null)";
const paths = "$(dimsync completion-paths 2>/dev/null)";
/** A reason follows, so the shell adds no space. */
const guards = guardNames.map((name) => `${name}=`).join(" ");
/** Its second argument is a path in schemas. */
const withPath = "explain";

// Bash also splits words at `=`; the word after it is the value of the flag before it. File names can contain spaces.
const bash = ({
  commands,
  flags,
  valued,
  addressed,
  targeted,
  guarded,
  formats,
}: CommandLineWords): string => `# dimsync completion for bash: source <(dimsync completion bash)
_dimsync() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command="" skip="" i
  [[ "$word" == "=" ]] && word=""
  if [[ "$previous" == "=" || "\${COMP_WORDS[COMP_CWORD]}" == "=" ]]; then
    i=$((COMP_CWORD - 1))
    [[ "$previous" == "=" ]] && i=$((COMP_CWORD - 2))
    previous="\${COMP_WORDS[i]}"
    # -o FORMAT=FILE
    case "\${COMP_WORDS[i - 1]}" in -o|--output|=) previous="--out" ;; esac
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "\${COMP_WORDS[i]}" == "=" ]]; then skip=1; continue; fi
    if [[ -n "$skip" ]]; then skip=""; continue; fi
    case "\${COMP_WORDS[i]}" in
      ${valued.join("|")}) skip=1 ;;
      -*) ;;
      *) command="\${COMP_WORDS[i]}"; break ;;
    esac
  done
  case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "${formats.join(" ")}" -- "$word")); return ;;
    ${addressed.join("|")}) COMPREPLY=($(compgen -W "${addresses}" -- "$word")); return ;;
    ${targeted.join("|")}) COMPREPLY=($(compgen -W "${targets}" -- "$word")); return ;;
    ${guarded.join("|")}) compopt -o nospace; COMPREPLY=($(compgen -W "${guards}" -- "$word")); return ;;
    ${valued.join("|")}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  case "$word:$command" in
    -*:) COMPREPLY=($(compgen -W "${flags.join(" ")}" -- "$word")); return ;;
    *:) COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word")); return ;;
${commands.map((command) => `    -*:${command.name}) COMPREPLY=($(compgen -W "${[...command.flags, ...flags].join(" ")}" -- "$word")); return ;;`).join("\n")}
  esac
  if [[ " \${COMP_WORDS[*]:1:COMP_CWORD-1} " == *" ${withPath} "*/* ]]; then
    COMPREPLY=($(compgen -W "${paths}" -- "$word")); return
  fi
  case "$command" in
${commands.flatMap(({ name, takes }) => (takes === "files" ? [] : [`    ${name}) COMPREPLY=($(compgen -W "${takes === "addresses" ? addresses : takes.join(" ")}" -- "$word")) ;;`])).join("\n")}
    *) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -F _dimsync dimsync
`;

const zsh = ({ commands, flags, valued, addressed, targeted, guarded, formats }: CommandLineWords): string => `#compdef dimsync
# dimsync completion for zsh: source <(dimsync completion zsh)
_dimsync() {
  local -a commands
  local command="" skip="" i
  commands=(
${commands.map(({ name, description }) => `    '${name}:${quoted(description).replaceAll(":", "\\:")}'`).join("\n")}
  )
  for ((i = 2; i < CURRENT; i++)); do
    if [[ -n "$skip" ]]; then skip=""; continue; fi
    case "\${words[i]}" in
      ${valued.join("|")}) skip=1 ;;
      -*) ;;
      *) command="\${words[i]}"; break ;;
    esac
  done
  case "\${words[CURRENT - 1]}" in
    -o|--output)
      if [[ "$PREFIX" == *=* ]]; then compset -P '*='; _files; else compadd -- ${formats.join(" ")}; fi
      return ;;
    ${addressed.join("|")}) compadd -- \${(f)"${addresses}"}; return ;;
    ${targeted.join("|")}) compadd -- \${(f)"${targets}"}; return ;;
    ${guarded.join("|")}) compadd -S '' -- ${guards}; return ;;
    ${valued.join("|")}) _files; return ;;
  esac
  case "$PREFIX:$command" in
    -*:) compadd -- ${flags.join(" ")}; return ;;
    *:) _describe command commands; return ;;
${commands.map((command) => `    -*:${command.name}) compadd -- ${[...command.flags, ...flags].join(" ")}; return ;;`).join("\n")}
  esac
  if [[ "\${words[2,CURRENT-1]} " == *"${withPath} "*/* ]]; then compadd -- \${(f)"${paths}"}; return; fi
  case "$command" in
${commands.flatMap(({ name, takes }) => (takes === "files" ? [] : [`    ${name}) compadd -- ${takes === "addresses" ? `\${(f)"${addresses}"}` : takes.join(" ")} ;;`])).join("\n")}
    *) _files ;;
  esac
}
compdef _dimsync dimsync
`;

const fish = ({ commands, flags, valued, addressed, targeted, guarded, formats }: CommandLineWords): string => {
  const offers = new Map([
    ...["-o", "--output"].map((flag) => [flag, "(__dimsync_outputs)"] as const),
    ...addressed.map((flag) => [flag, addresses.slice(1)] as const),
    ...targeted.map((flag) => [flag, targets.slice(1)] as const),
    ...guarded.map((flag) => [flag, guards] as const),
  ]);
  const option = (flag: string, condition: string): string => {
    const name = flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
    const offered = offers.get(flag);
    const value = offered !== undefined ? ` -x -a '${offered}'` : valued.includes(flag) ? " -r" : "";
    return `complete -c dimsync${condition} ${name}${value}`;
  };
  const within = (name: string): string => ` -n '__fish_seen_subcommand_from ${name}'`;
  const outside = `not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(" ")}`;
  return `# dimsync completion for fish: dimsync completion fish | source
function __dimsync_outputs
  set -l word (commandline -ct)
  if string match -q '*=*' -- $word
    set -l format (string replace -r '=.*' '' -- $word)
    for file in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $word))
      echo $format=$file
    end
  else
    printf '%s\\n' ${formats.join(" ")}
  end
end
${flags.map((flag) => option(flag, "")).join("\n")}
${commands
  .flatMap(({ name, description, flags: own, takes }) => [
    `complete -c dimsync -n '${outside}' -f -a ${name} -d '${quoted(description)}'`,
    ...own.map((flag) => option(flag, within(name))),
    ...(takes === "files"
      ? []
      : [`complete -c dimsync${within(name)} -f -a '${takes === "addresses" ? addresses.slice(1) : takes.join(" ")}'`]),
  ])
  .join("\n")}
complete -c dimsync -n 'string match -q -- "* ${withPath} */* *" (commandline -pc)' -f -a '${paths.slice(1)}'
`;
};

// `completion-words` decides what may follow. A completer that returns nothing offers files.
const powershell = (): string => `# dimsync completion for PowerShell: dimsync completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName dimsync -ScriptBlock {
  param($word, $ast, $cursor)
  $line = ($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor }) -join ' '
  dimsync completion-words $line 2>$null |
    Where-Object { $_.StartsWith($word) -and ($word -or -not $_.StartsWith('-')) } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;

/** For a single-quoted string. */
const quoted = (text: string): string => text.replaceAll("'", "’");

const scripts: Readonly<Record<string, (words: CommandLineWords) => string>> = { bash, zsh, fish, powershell };

const shells: readonly string[] = Object.keys(scripts);

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
    targeted: ["-t", "--target"],
    guarded: ["--allow"],
    formats: Object.keys(formats),
  };
}

const flagsOf = (options: readonly Option[]): readonly string[] => options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());

/** `dimsync completion-words LINE`: prints what may follow the words of a command line, a word a line; nothing if files may follow. */
export async function runWords(context: Context, line: string, words: CommandLineWords): Promise<ExitCode> {
  const typed = [...line.matchAll(/'([^']*)'|"([^"]*)"|\S+/gu)].map(([word, ...inner]) => inner.find((one) => one !== undefined) ?? word);
  context.io.stdout((await wordsAfter(context, typed.slice(1), words)).map((word) => `${word}\n`).join(""));
  return 0;
}

async function wordsAfter(
  context: Context,
  typed: readonly string[],
  { commands, flags, valued, addressed, targeted, guarded, formats: outputs }: CommandLineWords,
): Promise<readonly string[]> {
  const previous = typed.at(-1) ?? "";
  if (["-o", "--output"].includes(previous)) return outputs;
  if (addressed.includes(previous)) return addressesIn(context);
  if (targeted.includes(previous)) return targetsIn(context);
  if (guarded.includes(previous)) return guardNames.map((name) => `${name}=`);
  if (valued.includes(previous)) return [];
  const given = typed.filter((word, index) => !word.startsWith("-") && !valued.includes(typed[index - 1] ?? ""));
  const command = commands.find(({ name }) => name === given[0]);
  if (command === undefined) return [...commands.map(({ name }) => name), ...flags];
  const { name, takes } = command;
  const ofCommand = [...command.flags, ...flags];
  if (name === withPath && given[1]?.includes("/") === true) return [...(await pathsIn(context)), ...ofCommand];
  if (takes === "files") return ofCommand;
  return [...(takes === "addresses" ? await addressesIn(context) : takes), ...ofCommand];
}

/** `dimsync completion-addresses`, `-targets`, `-paths`: prints what there is in the project, a line each. */
export async function runNames(context: Context, what: "addresses" | "targets" | "paths"): Promise<ExitCode> {
  const names = await { addresses: addressesIn, targets: targetsIn, paths: pathsIn }[what](context);
  context.io.stdout(names.map((name) => `${name}\n`).join(""));
  return 0;
}

/** The addresses of the project's manifests, and of the schemas of its integrations. */
async function addressesIn(context: Context): Promise<readonly string[]> {
  const projects = await loadAnyProjects(context, { interruptible: true });
  const addresses = projects.flatMap(({ resources }) =>
    resources.flatMap((resource) => [resource.address, ...(isIntegration(resource) ? [schemasAddress(resource.name)] : [])]),
  );
  return [...new Set(addresses)];
}

const targetsIn = async (context: Context): Promise<readonly string[]> =>
  (await loadAnyProjects(context, { interruptible: true })).map(({ settings }) => settings.target);

/** "public", "public.orders": the paths in literal trees that can be written without quotes. */
async function pathsIn(context: Context): Promise<readonly string[]> {
  const projects = await loadAnyProjects(context, { interruptible: true });
  const configs = projects.flatMap(({ resources }) => resources.filter(isSchemaConfig));
  const isPlain = (name: string): boolean => /^[\p{L}\p{N}_-]+$/u.test(name);
  const found = configs.flatMap(({ spec: { schemas = {} } }) =>
    Object.entries(schemas)
      .filter(([schema]) => isPlain(schema))
      .flatMap(([schema, { tables = {} }]) => [
        schema,
        ...Object.keys(tables)
          .filter(isPlain)
          .map((table) => `${schema}.${table}`),
      ]),
  );
  return [...new Set(found)];
}
