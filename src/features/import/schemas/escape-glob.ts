/** A pattern that matches exactly this name: characters that a glob gives a meaning are escaped. Undefined for "", which no pattern matches. */
export function escapeGlob(name: string): string | undefined {
  if (name === "") return undefined;
  const escaped = name.replaceAll(/[*?[\]{}\\]/gu, (letter) => `\\${letter}`);
  return escaped.startsWith("!") ? `\\${escaped}` : escaped;
}

/** Those of the names that a pattern can have. */
export const patternsOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => escapeGlob(name) ?? []);

/** The name from which `escapeGlob` made the pattern; undefined for a glob and for a `!pattern`. */
export function nameOfPattern(pattern: string): string | undefined {
  if (/^[\w -]*$/u.test(pattern)) return pattern;
  if (pattern.startsWith("!") || /(?<!\\)(?:\\\\)*[*?[\]{}]/u.test(pattern)) return undefined;
  return pattern.replaceAll(/\\(.)/gsu, "$1");
}
