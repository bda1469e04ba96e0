/** How many names a message gives before it counts the others. */
const shownNames = 3;

/** "a, b, c and 4 more"; the names in the given order. */
export function andMore(names: readonly string[], shown = shownNames): string {
  const first = names.slice(0, shown).join(", ");
  return names.length > shown ? `${first} and ${names.length - shown} more` : first;
}
