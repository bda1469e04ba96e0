import type { Command, Option } from "commander";
import type { Context } from "../../cli/context.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { liveKinds } from "../../core/kinds/live-views.ts";
import { isIntegration, isSchemaConfig, schemasAddress } from "../../core/kinds/manifests.ts";
import { schemaNames } from "../../core/manifests/schema/lookup.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { guardNames } from "../../core/model/findings.ts";
import { formats } from "../../core/render/formats.ts";

/** `dimsync completion SHELL`: prints a script that completes command lines with `completion-words`. */
export async function runCompletion({ io }: Context, shell: string): Promise<ExitCode> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) throw new DimsyncError("E_USAGE", `Unknown shell ${JSON.stringify(shell)}. Shells: ${shells.join(", ")}.`);
  io.stdout(script);
  return 0;
}

// `dimsync completion-words` decides which words may follow. If it prints nothing but flags, files may follow. A shell offers
// flags only after a dash, and completes the file of `-o FORMAT=FILE` itself. After a word that ends in `=`, it adds no space.

// Bash also splits words at `=`. Not with `compgen -W`, which runs the commands that words contain.
const bash = `# dimsync completion for bash: source <(dimsync completion bash)
_dimsync() {
  local word="\${COMP_WORDS[COMP_CWORD]}" typed=("\${COMP_WORDS[@]:0:COMP_CWORD}") words one
  if [[ "$word" == "=" ]]; then typed+=("="); word=""; fi
  words="$(dimsync completion-words "\${typed[*]}" 2>/dev/null)" || return
  [[ "$word" == -* ]] || words="$(grep -v '^-' <<< "$words")"
  if [[ -z "$words" ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    [[ "$words" == *= ]] && compopt -o nospace
    COMPREPLY=()
    while IFS= read -r one; do [[ "$one" == "$word"* ]] && COMPREPLY+=("$one"); done <<< "$words"
  fi
}
complete -F _dimsync dimsync
`;

const zsh = `#compdef dimsync
# dimsync completion for zsh: source <(dimsync completion zsh)
_dimsync() {
  local -a found commands
  local text
  case "\${words[CURRENT - 1]} $PREFIX" in
    (-o|--output)\\ *=*) compset -P '*='; _files; return ;;
  esac
  text="$(dimsync completion-words "\${(j: :)words[1,CURRENT - 1]}" described 2>/dev/null)" || return
  found=(\${(f)text})
  if [[ "$PREFIX" == -* ]]; then found=(\${(M)found:#-*}); else found=(\${found:#-*}); fi
  commands=(\${(M)found:#*$'\\t'*})
  if (( \${#commands} )); then
    commands=("\${(@)\${(@)commands//:/\\\\:}/$'\\t'/:}")
    _describe command commands
  elif (( ! \${#found} )); then
    _files
  elif [[ "\${found[1]}" == *= ]]; then
    compadd -S '' -- $found
  else
    compadd -- $found
  fi
}
compdef _dimsync dimsync
`;

const fish = `# dimsync completion for fish: dimsync completion fish | source
function __dimsync_words
  set -l word (commandline -ct)
  set -l typed (commandline -pco)
  if contains -- $typed[-1] -o --output; and string match -q '*=*' -- $word
    set -l format (string replace -r '=.*' '' -- $word)
    for file in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $word))
      echo $format=$file
    end
    return
  end
  set -l words (dimsync completion-words "$typed" described 2>/dev/null); or return
  string match -q -- '-*' $word; or set words (string match -v -- '-*' $words)
  if test (count $words) -eq 0
    __fish_complete_path $word
  else
    printf '%s\\n' $words
  end
end
complete -c dimsync -f -a '(__dimsync_words)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

const shells: readonly string[] = Object.keys(scripts);

/**
 * `dimsync completion-words LINE [described]`: prints what may follow the words of a command line, a word a line; nothing but flags
 * if files may follow. With `described`, a tab and a description follow each command.
 */
export async function runWords(
  context: Context,
  program: Command,
  { line, isDescribed }: { readonly line: string; readonly isDescribed: boolean },
): Promise<ExitCode> {
  // Bash passes `--only=Tag/pii` as three words.
  const joined = line.replaceAll(/ =(?: |$)/gu, "=");
  const typed = [...joined.matchAll(/'([^']*)'|"([^"]*)"|\S+/gu)].map(([word, ...inner]) => inner.find((one) => one !== undefined) ?? word);
  const words = await wordsAfter(context, program, typed.slice(1));
  context.io.stdout(words.map((word) => `${isDescribed ? word : word.replace(/\t.*/u, "")}\n`).join(""));
  return 0;
}

/** Words; commands with a tab and their description. */
async function wordsAfter(context: Context, program: Command, typed: readonly string[]): Promise<readonly string[]> {
  const commands = program.commands.filter((command) => !command.name().startsWith("completion-"));
  const flags = flagsOf(program.options);
  const valued = flagsOf([program, ...commands].flatMap(({ options }) => options).filter(({ required }) => required));
  const last = typed.at(-1) ?? "";
  const previous = last.replace(/(?<=^--[\w-]+)=$/u, "");
  if (["-o", "--output"].includes(previous)) return Object.keys(formats);
  if (["--only", "--exclude", "--ignore"].includes(previous)) return addressesIn(context);
  if (["-t", "--target"].includes(previous)) return targetsIn(context);
  if (previous === "--allow") return guardNames.map((name) => `${name}=`);
  if (valued.includes(previous) || previous.endsWith("=")) return [];
  const given = typed.filter((word, index) => !word.startsWith("-") && !valued.includes(typed[index - 1] ?? ""));
  const command = commands.find((one) => one.name() === given[0]);
  if (command === undefined) return [...commands.map((one) => `${one.name()}\t${one.description()}`), ...flags];
  return [...(await argumentsOf(context, command.name(), { given, commands })), ...flagsOf(command.options), ...flags];
}

const flagsOf = (options: readonly Option[]): readonly string[] => options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat());

const ofAddresses: readonly string[] = ["bind", "unbind", "resolve", "render", "explain", "import"];

/** The arguments that a command takes, besides files. */
async function argumentsOf(
  context: Context,
  name: string,
  { given, commands }: { readonly given: readonly string[]; readonly commands: readonly Command[] },
): Promise<readonly string[]> {
  if (name === "explain" && given[1]?.includes("/") === true) return pathsIn(context);
  if (ofAddresses.includes(name)) return addressesIn(context);
  if (name === "get") return liveKinds;
  if (name === "schema") return schemaNames;
  if (name === "completion") return shells;
  if (name === "ci") return ["plan", "apply", "drift"];
  return name === "help" ? commands.map((command) => command.name()) : [];
}

/** Names that mean nothing to a shell: whoever can change the project chooses them, and the next Enter would run what they say. */
const plainNames = (names: readonly string[]): readonly string[] => [...new Set(names)].filter((name) => /^[\p{L}\p{N}_./-]+$/u.test(name));

/** The addresses of the project's manifests, and of the schemas of its integrations. */
async function addressesIn(context: Context): Promise<readonly string[]> {
  const projects = await loadAnyProjects(context, { interruptible: true });
  const addresses = projects.flatMap(({ resources }) =>
    resources.flatMap((resource) => [resource.address, ...(isIntegration(resource) ? [schemasAddress(resource.name)] : [])]),
  );
  return plainNames(addresses);
}

const targetsIn = async (context: Context): Promise<readonly string[]> =>
  plainNames((await loadAnyProjects(context, { interruptible: true })).map(({ settings }) => settings.target));

/** "public", "public.orders": the paths in literal trees that can be written without quotes. */
async function pathsIn(context: Context): Promise<readonly string[]> {
  const projects = await loadAnyProjects(context, { interruptible: true });
  const configs = projects.flatMap(({ resources }) => resources.filter(isSchemaConfig));
  const isPart = (name: string): boolean => !/[./]/u.test(name);
  const found = configs.flatMap(({ spec: { schemas = {} } }) =>
    Object.entries(schemas)
      .filter(([schema]) => isPart(schema))
      .flatMap(([schema, { tables = {} }]) => [
        schema,
        ...Object.keys(tables)
          .filter(isPart)
          .map((table) => `${schema}.${table}`),
      ]),
  );
  return plainNames(found);
}
