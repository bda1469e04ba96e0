export interface ListOptions {
  /** How many names to give before counting the others. */
  readonly shown?: number;
  /** How many there are, if `names` are only the first of them. */
  readonly total?: number;
}

/** "a, b, c and 4 more"; the names in the given order. */
export function andMore(names: readonly string[], { shown = 3, total = names.length }: ListOptions = {}): string {
  const first = names.slice(0, shown);
  return total > first.length ? `${first.join(", ")} and ${total - first.length} more` : first.join(", ");
}

/** The parts that are not empty, `between` them. */
export const joinParts = (parts: readonly string[], between: string): string => parts.filter((part) => part !== "").join(between);
