import { compileGlob, type Glob } from "./glob.ts";

export interface NameOptions {
  readonly ignoreCase?: boolean;
}

/** One positive pattern of a list. */
export interface NamePattern extends Glob {
  /** As it is written. */
  readonly text: string;
  /** Its position in the list; undefined where the patterns are one text and no list. */
  readonly position: number | undefined;
}

/** A literal, a glob, or a list of them of which any may match; `!pattern` leaves out, and a list of only those is everything else (product §2.4). */
export interface NamePatterns {
  /** Those that don't begin with `!`. */
  readonly positive: readonly NamePattern[];
  readonly matches: (name: string) => boolean;
}

export function namePatterns(written: string | readonly string[], { ignoreCase = false }: NameOptions = {}): NamePatterns {
  const list = typeof written === "string" ? [written] : written;
  const positive = list.flatMap((text, index): readonly NamePattern[] =>
    text.startsWith("!") ? [] : [{ text, position: typeof written === "string" ? undefined : index, ...compileGlob(text, ignoreCase) }],
  );
  const negative = list.filter((text) => text.startsWith("!")).map((text) => compileGlob(text.slice(1), ignoreCase));
  const matchesAny = positive.length === 0 ? () => true : anyOf(positive, ignoreCase);
  if (negative.length === 0) return { positive, matches: matchesAny };
  const leavesOut = anyOf(negative, ignoreCase);
  return { positive, matches: (name) => matchesAny(name) && !leavesOut(name) };
}

/** A matcher for names; globs stay within the name, so dots and slashes are ordinary letters (product §2.4). No patterns match everything. */
export function nameMatcher(patterns: readonly string[], options: NameOptions = {}): (name: string) => boolean {
  return namePatterns(patterns, options).matches;
}

/** Literals are looked up, however many there are; only globs are tried one by one. */
function anyOf(globs: readonly Glob[], ignoreCase: boolean): (name: string) => boolean {
  const [only] = globs;
  if (only !== undefined && globs.length === 1) return only.matches;
  const literals = new Set(ignoreCase ? [] : globs.flatMap(({ literal }) => literal ?? []));
  const others = globs.filter(({ literal }) => literal === undefined || ignoreCase);
  return (name) => literals.has(name) || others.some(({ matches }) => matches(name));
}
