import { groupBy } from "../model/maps.ts";
import { counted } from "./counts.ts";
import { enumerate } from "./describe.ts";

export interface ListOptions {
  /** How many names to give before counting the others. */
  readonly shown?: number;
  /** The number of names, if `names` has only the first. */
  readonly total?: number;
}

/** "and 4 more columns", "and 1 more column". */
export const moreOf = (left: number, one: string): string => `and ${counted(left, `more ${one}`)}`;

/** "a, b, c and 4 more columns"; the names in the given order. `one`: what each of them is. */
export function andMore(names: readonly string[], one: string, { shown = 3, total = names.length }: ListOptions = {}): string {
  const first = names.slice(0, shown);
  return total > first.length ? `${first.join(", ")} ${moreOf(total - first.length, one)}` : first.join(", ");
}

/** "target prod", "targets prod and staging". */
export const targetList = (names: readonly string[]): string => `${names.length === 1 ? "target" : "targets"} ${enumerate(names, "and")}`;

/** The nonempty parts, joined with `between`. */
export const joinParts = (parts: readonly string[], between: string): string => parts.filter((part) => part !== "").join(between);

/** Groups items by key, in the order of the first item of each group. */
export const grouped = <T>(all: readonly T[], keyOf: (one: T) => string): readonly (readonly [T, ...T[]])[] => [
  ...groupBy(all, keyOf).values(),
];
