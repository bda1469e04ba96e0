import picomatch from "picomatch";

/** A matcher for names; globs stay within the name, so dots and slashes are ordinary letters (product §2.4). */
export function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const compile = (list: readonly string[]) =>
    list.map((pattern) => picomatch.makeRe(pattern, { bash: true, dot: true, noextglob: true, nonegate: true }));
  const positive = compile(patterns.filter((pattern) => !pattern.startsWith("!")));
  const negative = compile(patterns.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1)));
  return (name) => (positive.length === 0 || positive.some((regex) => regex.test(name))) && !negative.some((regex) => regex.test(name));
}
