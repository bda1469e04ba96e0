import { type NamePatterns, namePatterns } from "./names.ts";

/** Patterns for the names of one level: a literal, a glob or a list of them; without `name`, every name. */
interface LevelPattern {
  readonly name?: string | readonly string[] | undefined;
  readonly ignoreCase?: boolean | undefined;
}

/** Which schemas, tables or columns a rule, policy, exemption or assertion matches by name. */
export interface NodePatterns {
  /** The deepest level that is given: 0 for schemas, 1 for tables, 2 for columns; undefined if none is. */
  readonly depth: 0 | 1 | 2 | undefined;
  /** By depth; undefined matches every name. */
  readonly parts: readonly (NamePatterns | undefined)[];
}

/** `levels` are those of schema, table and column, in this order. */
export function nodePatterns(levels: readonly (LevelPattern | undefined)[]): NodePatterns {
  const depth = levels.findLastIndex((level) => level !== undefined);
  return {
    depth: depth === 0 || depth === 1 || depth === 2 ? depth : undefined,
    parts: levels.map((level) =>
      level?.name === undefined ? undefined : namePatterns(level.name, { ignoreCase: level.ignoreCase === true }),
    ),
  };
}

/** Whether a name at this depth matches. */
export const matchesName = ({ parts }: NodePatterns, depth: 0 | 1 | 2, name: string): boolean => parts[depth]?.matches(name) ?? true;

/** Whether a node matches: each level with a pattern has a name, and it matches. `path` are names from the schema down. */
export function matchesPath({ parts }: NodePatterns, path: readonly string[]): boolean {
  return parts.every((part, depth) => {
    const name = path[depth];
    return part === undefined || (name !== undefined && part.matches(name));
  });
}
