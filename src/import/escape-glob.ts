/** A pattern that matches exactly this name (product §2.4.2): what a glob would read otherwise is escaped. Undefined for the empty name, which no pattern can be. */
export function escapeGlob(name: string): string | undefined {
  if (name === "") return undefined;
  const escaped = name.replaceAll(/[*?[\]{}\\]/gu, (letter) => `\\${letter}`);
  return escaped.startsWith("!") ? `\\${escaped}` : escaped;
}

/** The name that `patternFor` made a pattern of; undefined for a glob, and for what leaves out. */
export function nameOfPattern(pattern: string): string | undefined {
  if (/^[\w -]*$/u.test(pattern)) return pattern;
  if (pattern.startsWith("!") || /(?<!\\)(?:\\\\)*[*?[\]{}]/u.test(pattern)) return undefined;
  return pattern.replaceAll(/\\(.)/gsu, "$1");
}
