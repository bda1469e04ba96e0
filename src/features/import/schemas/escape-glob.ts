/** A pattern that matches exactly this name: characters that a glob gives a meaning are escaped. Undefined for "", which no pattern matches. */
export function escapeGlob(name: string): string | undefined {
  if (name === "") return undefined;
  const escaped = name.replaceAll(/[*?[\]{}\\]/gu, (letter) => `\\${letter}`);
  return escaped.startsWith("!") ? `\\${escaped}` : escaped;
}

/** Those of the names that a pattern can have. */
export const patternsOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => escapeGlob(name) ?? []);
