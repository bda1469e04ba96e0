import type { Patterns } from "../../base/model/specs.generated.d.ts";
import { compileGlob } from "../../kinds/index.ts";

// Names that no object has yet, made from patterns: what each of them matches, and what two of them match together. Which rule
// decides for a name is never asked here, so no way of writing a pattern is special.

/** Of a pattern of one or both sides; an excluded one tells names apart like any other. */
export const patternTexts = (patterns: Patterns | undefined): readonly string[] =>
  (typeof patterns === "string" ? [patterns] : (patterns ?? [])).map((text) => text.replace(/^!/u, ""));

/** A name that is unlikely to be in any pattern. */
const unknown = "later";

interface BothSides {
  /** What differs depends on them. */
  readonly changed: readonly string[];
  readonly all: readonly string[];
}

/** At most so many names made from patterns, those of changed ones first. */
export function namesLike({ changed, all }: BothSides, most: number): readonly string[] {
  const globsOf = (patterns: readonly string[]) =>
    [...new Set(patterns)].flatMap(alternatives).map((form) => ({ form, matches: compileGlob(form, true).matches }));
  const [first, both] = [globsOf(changed), globsOf(all)];
  const names = new Set([unknown]);
  const add = (made: readonly string[]): void => {
    for (const name of made) if (name !== "" && names.size < most) names.add(name);
  };
  for (const globs of [first, both]) {
    for (const { form } of globs) add(filled(form, ["", "x"]));
    for (const { form } of globs) for (const name of filled(form, [""])) add([name.toUpperCase(), capital(name)]);
    for (const one of globs)
      for (const other of names.size < most ? both : []) {
        const made = [...filled(one.form, ["", coreOf(other.form)]), ...filled(other.form, ["", coreOf(one.form)])];
        add(made.filter((name) => one.matches(name) && other.matches(name)));
      }
  }
  return [...names];
}

const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** What a pattern has besides wildcards. */
const coreOf = (form: string): string => form.replaceAll("*", "");

const mostForms = 12;

/** The forms of a pattern with stars only: each alternative of its braces, and one letter for a class or `?`. */
function alternatives(pattern: string): readonly string[] {
  const [whole, inside = ""] = /\{([^{}]*,[^{}]*)\}/u.exec(pattern) ?? [];
  if (whole !== undefined)
    return inside
      .split(",")
      .flatMap((one) => alternatives(pattern.replace(whole, () => one)))
      .slice(0, mostForms);
  const letters = pattern.replaceAll(/\[([!^]?)(\\?.)[^\]]*\]/gu, (_, not: string, first: string) =>
    not === "" ? first : first === "x" ? "q" : "x",
  );
  return [letters.replaceAll("?", "x").replaceAll(/\*+/gu, "*").replaceAll(/\\(.)/gu, "$1")];
}

/** The form with each of the texts for its stars: for each star alone and for all of them. */
function filled(form: string, texts: readonly string[]): readonly string[] {
  const parts = form.split("*");
  if (parts.length === 1) return [form];
  const stars = parts.length - 1;
  const fill = (textAt: (star: number) => string): string =>
    parts.map((part, star) => (star === stars ? part : part + textAt(star))).join("");
  const [first = ""] = texts;
  const alone = (text: string): readonly string[] => parts.slice(1).map((_, at) => fill((star) => (star === at ? text : first)));
  return texts.flatMap((text) => [...(text === first ? [] : alone(text)), fill(() => text)]);
}
