import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Context } from "./context.ts";

/** A command and its flags, as completion needs them. */
export interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly string[];
}

/** `dimsync completion SHELL`: a script that completes commands, flags, files, and addresses of the project's manifests. */
export async function runCompletion({ io }: Context, shell: string, commands: readonly CommandWords[]): Promise<ExitCode> {
  const make = scripts[shell];
  if (make === undefined)
    throw new DimsyncError("E_USAGE", `There is no completion for ${JSON.stringify(shell)}. Shells: ${Object.keys(scripts).join(", ")}.`);
  io.stdout(make(commands));
  return 0;
}

const takesAddress = "bind|unbind|resolve|render|explain|import";

const scripts: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: (commands) => `# dimsync completion for bash: source <(dimsync completion bash)
_dimsync() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in -*) ;; *) command="\${COMP_WORDS[i]}"; break ;; esac
  done
  if [[ -z "$command" ]]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word"))
    return
  fi
  if [[ "$word" == -* ]]; then
    case "$command" in
${commands.map(({ name, flags }) => `      ${name}) COMPREPLY=($(compgen -W "${flags.join(" ")}" -- "$word")) ;;`).join("\n")}
    esac
    return
  fi
  case "$command" in
    ${takesAddress}) COMPREPLY=($(compgen -W "$(dimsync completion-addresses 2>/dev/null)" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _dimsync dimsync
`,
  zsh: (commands) => `#compdef dimsync
# dimsync completion for zsh: source <(dimsync completion zsh)
_dimsync() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    '${name}:${description.replaceAll("'", "'\\''").replaceAll(":", "\\:")}'`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "\${words[2]}" in
${commands.map(({ name, flags }) => `    ${name}) [[ "$PREFIX" == -* ]] && { compadd -- ${flags.join(" ")}; return } ;;`).join("\n")}
  esac
  case "\${words[2]}" in
    ${takesAddress}) compadd -- \${(f)"$(dimsync completion-addresses 2>/dev/null)"} ;;
    *) _files ;;
  esac
}
compdef _dimsync dimsync
`,
  fish: (commands) => `# dimsync completion for fish: dimsync completion fish | source
${commands.map(({ name, description }) => `complete -c dimsync -n __fish_use_subcommand -a ${name} -d '${description.replaceAll("'", "\\'")}'`).join("\n")}
${commands.flatMap(({ name, flags }) => flags.filter((flag) => flag.startsWith("--")).map((flag) => `complete -c dimsync -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`)).join("\n")}
complete -c dimsync -n '__fish_seen_subcommand_from ${takesAddress.replaceAll("|", " ")}' -f -a '(dimsync completion-addresses 2>/dev/null)'
`,
};
