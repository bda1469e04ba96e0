import { parsePlainYaml } from "./fast/transcode.ts";
import { readByLibrary } from "./library.ts";
import type { YamlProblem } from "./problems.ts";

/** One document as plain values. Maps and lists behind one anchor are the same object. */
export interface ValueDocument {
  /** Position in the file, from 0, empty documents counted. */
  readonly index: number;
  readonly value: unknown;
  /**
   * Of its canonical JSON, if `digestOf` was given and the fast path could compute it in passing.
   */
  readonly digest?: string;
}

export interface YamlText {
  /** Without empty documents, and without those that have a problem. */
  readonly documents: readonly ValueDocument[];
  readonly problems: readonly YamlProblem[];
  /**
   * The text has no references (`${…}`, `$secret`, aliases), no deep nesting and no number that
   * JSON cannot hold.
   */
  readonly isInert: boolean;
}

/** "library": read everything with the YAML library, never with the fast path. */
export type YamlParser = "library" | undefined;

export interface ReadOptions {
  readonly parser?: YamlParser;
  readonly digestOf?: ((canonicalJson: Uint8Array) => string) | undefined;
}

/**
 * The values of a text and the problems in its YAML. Callers cannot see which parser ran: the fast
 * path gives the same result as the library, or leaves the text to it (test/yaml/fast). Never
 * throws. Positions: `positionsIn`.
 */
export function read(text: string, { parser, digestOf }: ReadOptions = {}): YamlText {
  const plain = parser === "library" ? undefined : parsePlainYaml(text, digestOf);
  if (plain === undefined) return { ...readByLibrary(text), isInert: false };
  // The fast path reads no escape for a dollar sign, no aliases and no such numbers.
  return { documents: plain, problems: [], isInert: !text.includes("$") };
}
