// The patterns of docs/schema-config.md, implemented literally: braces are written out, and the
// rest is tried letter by letter, with every possibility of `*`. Independent of the matcher under
// test. Unclosed brackets and braces are not supported here, and not generated.

/** A literal, a glob or a list of them; `!` leaves out, and a list of only those is everything else. */
export function slowMatch(patterns: readonly string[], name: string, ignoreCase: boolean): boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const fits = (pattern: string): boolean => braceless(pattern).some((plain) => glob(fold(plain), fold(name)));
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!"));
  const unwanted = patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  return (wanted.length === 0 || wanted.some(fits)) && !unwanted.some(fits);
}

/** `x{a,b}y` as `xay` and `xby`, the innermost braces first. */
function braceless(pattern: string): readonly string[] {
  const found = /^(.*?)(?<!\\)\{([^{}]*,[^{}]*)\}(.*)$/su.exec(pattern);
  const [, before = "", choices = "", after = ""] = found ?? [];
  return found === null ? [pattern] : choices.split(",").flatMap((choice) => braceless(`${before}${choice}${after}`));
}

function glob(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  const [first = "", ...rest] = pattern;
  const others = rest.join("");
  if (first === "*") return glob(others, name) || (name !== "" && glob(pattern, name.slice(1)));
  if (name === "") return false;
  if (first === "\\") return others[0] === name[0] && glob(others.slice(1), name.slice(1));
  if (first === "?") return glob(others, name.slice(1));
  const bracket = /^\[(!?)([^\]]+)\](.*)$/su.exec(pattern);
  if (bracket !== null) {
    const [, not = "", letters = "", after = ""] = bracket;
    return inClass(letters, name[0] ?? "") !== (not === "!") && glob(after, name.slice(1));
  }
  return first === name[0] && glob(others, name.slice(1));
}

function inClass(letters: string, letter: string): boolean {
  const [from = "", dash, to, ...rest] = letters;
  if (from === "") return false;
  if (dash === "-" && to !== undefined) return (from <= letter && letter <= to) || inClass(rest.join(""), letter);
  return from === letter || inClass(letters.slice(1), letter);
}
