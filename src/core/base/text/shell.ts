/** The text as one word of a POSIX shell, quoted only if necessary. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A target, and whether the project has others: then a command must name it. */
interface Targeted {
  readonly target: string;
  readonly severalTargets?: true;
}

/** A command line in which each dimsync command names the target, if the project has several. */
export const forTarget = (commandLine: string, { target, severalTargets }: Targeted): string =>
  severalTargets === true ? withFlags(commandLine, [["-t", target]]) : commandLine;

/** The same for a value with a command, such as a problem. */
export const withTarget = <T extends { readonly command?: string }>(value: T, of: Targeted): T =>
  value.command === undefined ? value : { ...value, command: forTarget(value.command, of) };

/** Commands without a target, or with other flags for it. */
const withoutTarget: ReadonlySet<string> = new Set(["controller", "init", "show"]);

/** A word of a shell with its quotes, or an operator. */
const wordPattern = /&&|\|\|?|;|>>?|(?:'[^']*'|"[^"]*"|\\[\s\S]|[^\s'"\\&|;>])+/gu;
const operators: ReadonlySet<string> = new Set(["&&", "||", "|", ";", ">", ">>"]);

/** Adds flags to each dimsync command in a command line, at its end, unless it has them. */
export function withFlags(commandLine: string, flags: readonly (readonly [flag: string, value: string])[]): string {
  let result = "";
  let done = 0;
  let words: string[] = [];
  const endCommand = (end: number): void => {
    const [program, task = ""] = words;
    const isMissing = (flag: string): boolean =>
      program === "dimsync" &&
      !words.includes("--help") &&
      !words.includes(flag) &&
      !(flag === "-t" && (withoutTarget.has(task) || namesTarget(words)));
    const missing = flags.filter(([flag]) => isMissing(flag)).map(([flag, value]) => ` ${flag} ${shellWord(value)}`);
    result += commandLine.slice(done, end) + missing.join("");
    done = end;
    words = [];
  };
  let end = 0;
  for (const { 0: word, index } of commandLine.matchAll(wordPattern)) {
    if (operators.has(word)) endCommand(end);
    else words.push(word);
    end = index + word.length;
  }
  endCommand(end);
  return result + commandLine.slice(done);
}

const namesTarget = (words: readonly string[]): boolean => words.some((word) => /^--(?:target(?:=|$)|all-targets$)/u.test(word));

/** Binds an address to the id of a live object. */
export const bindCommand = (address: string, id = "ID"): string => `dimsync bind ${shellWord(`${address}=${id}`)}`;

/** Gives up what manifests kept hashed or disabled: a node, or all of an integration. */
export const giveUpCommand = (address: string, node?: string): string =>
  `dimsync resolve ${shellWord(address)} ${node === undefined ? "" : `${shellWord(node)} `}--reason REASON`;

/** Records that a create took effect, as the object with this id. */
export const resolveCommand = (address: string, id = "ID"): string => `dimsync resolve ${shellWord(address)} --created=${shellWord(id)}`;

/** That command, and the one that records that the create did not take effect. */
export const resolveChoices = (command: string): readonly string[] => [
  command,
  command.replace(/--created=(?:'[^']*'|\S)+/u, "--not-created"),
];
