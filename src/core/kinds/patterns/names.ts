import { compileGlob, composed, foldText, type Glob } from "./glob.ts";

interface NameOptions {
  readonly ignoreCase?: boolean;
}

/** One positive pattern of a list. */
export interface NamePattern extends Pick<Glob, "literal"> {
  /** As written. */
  readonly text: string;
  /** Its position in the list; undefined if the patterns are a single string. */
  readonly position: number | undefined;
}

/**
 * A literal, a glob, or a list of them (one must match); `!pattern` excludes. A list of only
 * `!pattern` matches everything else.
 */
export interface NamePatterns {
  /** The patterns that do not begin with `!`. */
  readonly positive: readonly NamePattern[];
  readonly matches: (name: string) => boolean;
  /**
   * Positions in `positive` of the patterns that match the name; undefined if it does not match.
   */
  readonly matching: (name: string) => readonly number[] | undefined;
}

export function namePatterns(written: string | readonly string[], options: NameOptions = {}): NamePatterns {
  const { positive, matching, means, leavesOut } = compile(written, options);
  return {
    positive,
    matching: (name) => {
      const found = matching(name);
      return (found.length === 0 && positive.length > 0) || leavesOut?.(name) === true ? undefined : found;
    },
    matches: leavesOut === undefined ? means : (name) => means(name) && !leavesOut(name),
  };
}

/**
 * A matcher for names. A glob matches one name, so dots and slashes are ordinary letters. Without
 * patterns every name matches.
 */
export function nameMatcher(patterns: readonly string[], options: NameOptions = {}): (name: string) => boolean {
  return namePatterns(patterns, options).matches;
}

/**
 * A matcher for something with several names, such as an integration with the name of its manifest
 * and its live name. It matches if any of the names matches and no `!pattern` excludes any of them.
 */
export function namesMatcher(written: string | readonly string[], options: NameOptions = {}): (names: readonly string[]) => boolean {
  const { means, leavesOut } = compile(written, options);
  return leavesOut === undefined ? (names) => names.some(means) : (names) => names.some(means) && !names.some(leavesOut);
}

/** Names that no source has: only a pattern for every name matches both. */
const unlikelyNames = ["\u{10fffc}".repeat(9), "\u{10fffd}".repeat(8)];

export const matchesEveryName = (pattern: string): boolean => unlikelyNames.every(nameMatcher([pattern]));

/** `leavesOut` is undefined if no pattern begins with `!`. */
function compile(written: string | readonly string[], { ignoreCase = false }: NameOptions) {
  const list = typeof written === "string" ? [written] : written;
  const wanted = list.flatMap((text, index) =>
    text.startsWith("!") ? [] : [{ text, position: typeof written === "string" ? undefined : index, glob: globOf(text, ignoreCase) }],
  );
  const unwanted = list.flatMap((text) => (text.startsWith("!") ? [globOf(text.slice(1), ignoreCase)] : []));
  const matching = indexOf(
    wanted.map(({ glob }) => glob),
    ignoreCase,
  );
  const leavesOut = indexOf(unwanted, ignoreCase);
  return {
    positive: wanted.map(({ text, position, glob: { literal } }): NamePattern => ({ text, position, literal })),
    matching,
    means: wanted.length === 0 ? () => true : (name: string) => matching(name).length > 0,
    leavesOut: unwanted.length === 0 ? undefined : (name: string) => leavesOut(name).length > 0,
  };
}

/** A glob that also matches the name that is equal to it, such as "Orders [EU]". */
function globOf(text: string, ignoreCase: boolean): Glob {
  const own = composed(text);
  const { literal, matches } = compileGlob(own, ignoreCase);
  return { literal, matches: literal === undefined ? (name) => name === own || matches(name) : matches };
}

const none: readonly number[] = [];

/**
 * The globs that match a name. Literals are looked up in a map; only globs are tried one by one.
 */
function indexOf(globs: readonly Glob[], ignoreCase: boolean): (name: string) => readonly number[] {
  const key = ignoreCase ? (name: string): string => foldText(composed(name)) : composed;
  const literals = new Map<string, number[]>();
  const others: { readonly position: number; readonly matches: Glob["matches"] }[] = [];
  for (const [position, { literal, matches }] of globs.entries()) {
    if (literal === undefined) others.push({ position, matches });
    else literals.set(key(literal), [...(literals.get(key(literal)) ?? []), position]);
  }
  if (others.length === 0) return (name) => literals.get(key(name)) ?? none;
  return (written) => {
    const name = composed(written);
    const found = (literals.size === 0 ? undefined : literals.get(key(name))) ?? none;
    const more = others.filter(({ matches }) => matches(name)).map(({ position }) => position);
    return more.length === 0 ? found : [...found, ...more];
  };
}
