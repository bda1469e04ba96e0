import type { Patterns } from "../../base/model/specs.generated.d.ts";
import { compileGlob } from "../../kinds/index.ts";

// Names that no object has yet, made from patterns: what each of them matches, and what two of them match together. Which rule
// decides for a name is never asked here, so no way of writing a pattern is special.

/** Of a pattern of one or both sides; an excluded one tells names apart like any other. */
export const patternTexts = (patterns: Patterns | undefined): readonly string[] =>
  (typeof patterns === "string" ? [patterns] : (patterns ?? [])).map((text) => text.replace(/^!/u, ""));

/** A name that is unlikely to be in any pattern. */
export const madeUpName = "later";

export interface BothSides<T> {
  /** What is not the same on both sides. */
  readonly changed: readonly T[];
  readonly all: readonly T[];
}

interface Names {
  readonly names: readonly string[];
  /** Whether there are more: of what changed patterns match together with another one, and of what each pattern matches. */
  readonly isCut: boolean;
}

/** Names of what two unchanged patterns match together decide nothing that single ones do not, so there are few. */
const mostOfPairs = 200;

/** At most so many names made from patterns, those of changed ones first. */
export function namesLike({ changed, all }: BothSides<string>, most: number): Names {
  let isCut = false;
  const globsOf = (patterns: readonly string[]) =>
    [...new Set(patterns)].flatMap((pattern) => {
      const forms = formsOf(pattern);
      isCut ||= forms.length > mostForms;
      return forms.slice(0, mostForms).map((form) => ({ form, matches: compileGlob(form, true).matches }));
    });
  const [first, both] = [globsOf(changed), globsOf(all)];
  const names = new Set([madeUpName]);
  const add = (made: readonly string[]): void => {
    const added = made.filter((name) => name !== "" && !names.has(name));
    for (const name of added.slice(0, most - names.size)) names.add(name);
    isCut ||= added.some((name) => !names.has(name));
  };
  const withCases = ({ form }: (typeof both)[number]) => filled(form, [""]).flatMap((name) => [name.toUpperCase(), capital(name)]);
  const pairsOf = (one: (typeof both)[number], other: (typeof both)[number]): readonly string[] =>
    [...filled(one.form, ["", coreOf(other.form)]), ...filled(other.form, ["", coreOf(one.form)])].filter(
      (name) => one.matches(name) && other.matches(name),
    );
  for (const { form } of first) add(filled(form, ["", "x"]));
  for (const one of first) add(withCases(one));
  for (const { form } of both) add(filled(form, [""]));
  for (const one of first) for (const other of isCut ? [] : both) add(pairsOf(one, other));
  for (const { form } of both) add(filled(form, ["x"]));
  const isFull = (): boolean => names.size >= Math.min(most, mostOfPairs);
  for (const one of isFull() ? [] : both)
    for (const other of both) if (!isFull()) add([...withCases(one), ...pairsOf(one, other)].slice(0, most - names.size));
  return { names: [...names], isCut };
}

const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** What a pattern has besides wildcards. */
const coreOf = (form: string): string => form.replaceAll("*", "");

/** Of one pattern. */
const mostForms = 300;

/** The forms of a pattern with stars only: each alternative of its braces, each letter of a class and one that it excludes. One more than `mostForms` if there are more. */
function formsOf(pattern: string): readonly string[] {
  const [whole, inside = ""] = /\{([^{}]*,[^{}]*)\}/u.exec(pattern) ?? [];
  if (whole !== undefined)
    return inside
      .split(",")
      .slice(0, mostForms + 1)
      .flatMap((one) => formsOf(pattern.replace(whole, () => one)))
      .slice(0, mostForms + 1);
  const parts = pattern
    .split(/(\[[!^]?\]?(?:\\.|[^\]\\])*\])/u)
    .map((part, index) => (index % 2 === 0 ? [part.replaceAll("?", "x")] : lettersOf(part)));
  const first = parts.map(([one = ""]) => one);
  const forms = parts.flatMap((letters, at) => letters.map((letter) => first.with(at, letter).join("")));
  return [...new Set(forms)].map((form) => form.replaceAll(/\*+/gu, "*").replaceAll(/\\(.)/gu, "$1"));
}

/** The letters that a class, such as "[a-f]" or "[!0-9]", tells apart from others; first one that it matches. */
function lettersOf(text: string): readonly string[] {
  const [, not = "", inside = ""] = /^\[([!^]?)(.*)\]$/su.exec(text) ?? [];
  const listed = Array.from(inside.replaceAll(/\\(.)/gu, "$1"));
  const between = (first = "", last = ""): readonly string[] => {
    const [from, to] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
    return Array.from({ length: Math.max(0, Math.min(to - from + 1, mostForms)) }, (_, index) => String.fromCodePoint(from + index));
  };
  const letters = listed.flatMap((letter, at) =>
    letter === "-" && at > 0 && at < listed.length - 1 ? between(listed[at - 1], listed[at + 1]) : [letter],
  );
  const other = ["x", "q", "0", "_"].find((letter) => !letters.includes(letter)) ?? "é";
  return not === "" ? letters : [other, ...letters];
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
