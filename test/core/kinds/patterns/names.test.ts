// A pattern matches exactly what trying every possibility matches, in bounded time.
import { describe, expect, test } from "vitest";
import { compileGlob, foldLetter } from "../../../../src/core/kinds/patterns/glob.ts";
import { nameMatcher, namePatterns, namesMatcher } from "../../../../src/core/kinds/patterns/names.ts";
import fc from "../../../support/fast-check.ts";

const rows: readonly (readonly [sentence: string, pattern: string, matching: readonly string[], others: readonly string[]])[] = [
  ["a literal matches itself only", "orders", ["orders"], ["Orders", "orders ", "order", "orders2", ""]],
  ["a star matches any letters, none included", "order_*", ["order_", "order_items", "order_a.b/c"], ["orders", "xorder_"]],
  ["a star also matches dots and slashes", "*", ["a.b", "a/b", ".hidden", "", "..", "__proto__", "ü"], []],
  ["two stars are the same as one", "a**b", ["ab", "a/x/b"], ["a", "b"]],
  ["a question mark is one letter, however many bytes it has", "?", ["a", "ü", "😀", ".", "/"], ["", "ab"]],
  ["a class is one of its letters", "t[abc]", ["ta", "tc"], ["td", "t", "tab"]],
  ["a class may contain ranges", "t[0-9x]", ["t0", "t9", "tx"], ["ta", "t-"]],
  ["a class may be negated by !", "t[!0-9]", ["ta", "t."], ["t0", "t"]],
  ["a class may be negated by ^", "t[^0-9]", ["ta"], ["t0"]],
  ["a closing bracket that comes first is a member", "[]a]", ["]", "a"], ["[]a]"]],
  ["a hyphen at the end is a member", "[a-]", ["a", "-"], ["b"]],
  ["a range that runs backwards is its letters", "[z-a]", ["z", "-", "a"], ["m"]],
  ["a backslash in a class takes the next letter as it is", "[\\]x]", ["]", "x"], ["\\"]],
  ["braces are alternatives", "{a,b}_id", ["a_id", "b_id"], ["c_id", "a,b_id", "_id"]],
  ["alternatives may be empty", "id{,_old}", ["id", "id_old"], ["id_"]],
  ["braces may be nested", "{a,{b,c}d}", ["a", "bd", "cd"], ["b", "ad"]],
  ["braces may contain globs", "{a*,[xy]?}", ["a", "abc", "xz"], ["x", "zz"]],
  ["braces without a comma are letters", "{a}", ["{a}"], ["a"]],
  ["a brace that is not closed is a letter", "{a,b", ["{a,b"], ["a", "b"]],
  ["a bracket that is not closed is a letter", "a[b", ["a[b"], ["ab"]],
  ["a stray closing sign is a letter", "a}]", ["a}]"], ["a"]],
  ["a comma outside of braces is a letter", "a,b", ["a,b"], ["a", "b"]],
  ["an unclosed brace around a closed one is a letter", "{x,{a,b}", ["{x,a", "{x,b"], ["x", "a"]],
  ["a backslash makes the next character a letter", "a\\*b\\?\\[\\{\\!", ["a*b?[{!"], ["axb?[{!"]],
  ["a backslash at the end is a letter", "a\\", ["a\\"], ["a"]],
  ["extended globs are letters", "@(a|b)", ["@(a|b)"], ["a", "b"]],
  ["regular expressions are letters", "a.b+", ["a.b+"], ["axb", "a.bb"]],
  ["percent, quotes and spaces are letters", " 100%'\" ", [" 100%'\" "], ["100%"]],
  ["names of Object.prototype are letters", "__proto__", ["__proto__"], ["constructor"]],
];

describe("a pattern", () => {
  test.each(rows)("%s: %s", (_sentence, pattern, matching, others) => {
    const { matches } = compileGlob(pattern);
    expect(matching.filter((name) => !matches(name))).toEqual([]);
    expect(others.filter((name) => matches(name))).toEqual([]);
  });

  test.each([
    ["orders", "orders"],
    ["a\\*b", "a*b"],
    ["a[b", "a[b"],
    ["{a}", "{a}"],
    ["", ""],
    ["a*", undefined],
    ["a?", undefined],
    ["[a]", undefined],
    ["{a,b}", undefined],
  ])("without glob signs is a literal: %s is %s", (pattern, literal) => {
    expect(compileGlob(pattern).literal).toBe(literal);
  });

  test.each([
    ["a literal", "Größe", ["GRÖSSE", "größe", "GRÖßE"].map((name) => [name, name !== "GRÖSSE"] as const)],
    ["a star", "*EMAIL*", [["work_Email_2", true] as const, ["mail", false] as const]],
    ["a range", "[a-c]X", [["Bx", true] as const, ["bx", true] as const, ["Dx", false] as const]],
    ["a negated range", "[!a-c]", [["B", false] as const, ["D", true] as const]],
    ["a class, and no letter for one whose capital is two", "[A-Z]", [["s", true] as const, ["ß", false] as const, ["ﬁ", false] as const]],
  ])("with ignoreCase matches upper and lower case in %s", (_what, pattern, names) => {
    for (const [name, wanted] of names) expect([name, compileGlob(pattern, true).matches(name)]).toEqual([name, wanted]);
  });

  test("never takes longer than its length times the name's", () => {
    const name = `${"a".repeat(20_000)}c`;
    const hostile = [
      "*a*a*a*a*a*a*b",
      `${"{a,a}".repeat(200)}b`,
      `${"{a,".repeat(500)}b${"}".repeat(500)}`,
      `${"[".repeat(3_000)}]`,
      "{".repeat(3_000),
      `*${"?".repeat(50)}*b`,
    ];
    // An exponential matcher would never end; the test would fail with a timeout.
    for (const pattern of hostile) expect(compileGlob(pattern).matches(name)).toBe(false);
  });
});

describe("a list of patterns", () => {
  test.each([
    ["matches any of them", ["orders", "order_*"], ["orders", "order_x"], ["x"]],
    ["excludes names with !, in any order", ["!order_tmp*", "order_*"], ["order_a"], ["order_tmp", "order_tmp2"]],
    ["of only ! matches everything else", ["!tmp_*", "!x"], ["a", "y"], ["tmp_1", "x"]],
    ["treats an escaped ! as a letter", ["\\!a"], ["!a"], ["a", "b"]],
    ["of nothing matches everything", [], ["a", ""], []],
    ["matches the name that is equal to a glob", ["Orders [EU]", "{a,b}?"], ["Orders [EU]", "{a,b}?", "Orders E", "ax"], ["Orders"]],
    ["excludes the name that is equal to a glob", ["*", "![tmp]"], ["orders"], ["[tmp]", "t"]],
    ["matches both Unicode forms", ["pre\u0301nom", "nom_\u00e9*"], ["pr\u00e9nom", "pre\u0301nom", "nom_e\u0301crit"], ["prenom"]],
  ])("%s", (_sentence, patterns, matching, others) => {
    const matches = nameMatcher(patterns);
    expect(matching.filter((name) => !matches(name))).toEqual([]);
    expect(others.filter((name) => matches(name))).toEqual([]);
  });

  test("returns its positive patterns with their positions", () => {
    expect(namePatterns(["!x", "a*", "b"]).positive.map(({ text, position, literal }) => [text, position, literal])).toEqual([
      ["a*", 1, undefined],
      ["b", 2, "b"],
    ]);
    expect(namePatterns("b").positive.map(({ position }) => position)).toEqual([undefined]);
  });
});

describe("something of several names", () => {
  test.each<readonly [sentence: string, patterns: readonly string[], names: readonly string[], isMeant: boolean]>([
    ["matches by any of them", ["orders"], ["Orders EU", "orders"], true],
    ["does not match if no name does", ["orders"], ["Orders EU", "sales"], false],
    ["is excluded by any of them", ["*", "!orders"], ["Orders EU", "orders"], false],
    ["is excluded although another name matches", ["orders", "!Orders*"], ["Orders EU", "orders"], false],
    ["matches a list of only ! if no name is excluded", ["!x*"], ["Orders EU", "orders"], true],
    ["is excluded by a list of only ! if one name is", ["!o*"], ["Orders EU", "orders"], false],
  ])("%s", (_sentence, patterns, names, isMeant) => {
    expect(namesMatcher(patterns)(names)).toBe(isMeant);
    expect(namesMatcher(patterns)(names.toReversed())).toBe(isMeant);
  });
});

/**
 * A slow implementation of globs that tries every way of splitting the name. Braces in `parts` are
 * lists of alternatives.
 */
type Piece =
  | string
  | { readonly any: true }
  | { readonly star: true }
  | { readonly set: string; readonly negated: boolean }
  | { readonly either: readonly (readonly Piece[])[] };

function naive(pieces: readonly Piece[], letters: readonly string[], same: (a: string, b: string) => boolean): boolean {
  const [piece, ...rest] = pieces;
  if (piece === undefined) return letters.length === 0;
  const [letter, ...after] = letters;
  if (typeof piece === "string") return letter !== undefined && same(piece, letter) && naive(rest, after, same);
  if ("either" in piece) return piece.either.some((alternative) => naive([...alternative, ...rest], letters, same));
  if ("star" in piece) return naive(rest, letters, same) || (letter !== undefined && naive(pieces, after, same));
  if (letter === undefined) return false;
  if ("set" in piece) return Array.from(piece.set).some((member) => same(member, letter)) !== piece.negated && naive(rest, after, same);
  return naive(rest, after, same);
}

const text = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if (typeof piece === "string") return /[*?[\]{},\\!]/u.test(piece) ? `\\${piece}` : piece;
      if ("either" in piece) return `{${piece.either.map(text).join(",")}}`;
      if ("star" in piece) return "*";
      return "any" in piece ? "?" : `[${piece.negated ? "!" : ""}${piece.set}]`;
    })
    .join("");

const letter = fc.constantFrom("a", "B", "b", "ü", ".", "/", "*", "{", ",", "!", "😀");
const { pieces } = fc.letrec<{ pieces: readonly Piece[]; piece: Piece }>((tie) => ({
  pieces: fc.array(tie("piece"), { maxLength: 5 }),
  piece: fc.oneof(
    { depthSize: "small" },
    letter,
    fc.constant<Piece>({ any: true }),
    fc.constant<Piece>({ star: true }),
    fc.record({ set: fc.constantFrom("a", "ab", "B.", "üA"), negated: fc.boolean() }),
    fc.record({ either: fc.array(tie("pieces"), { minLength: 2, maxLength: 3 }) }),
  ),
}));

test("a pattern matches exactly what trying every possibility matches", () => {
  fc.assert(
    fc.property(pieces, fc.array(letter, { maxLength: 7 }), fc.boolean(), (glob, name, ignoreCase) => {
      const same = ignoreCase ? (a: string, b: string) => foldLetter(a) === foldLetter(b) : (a: string, b: string) => a === b;
      expect(compileGlob(text(glob), ignoreCase).matches(name.join(""))).toBe(naive(glob, name, same));
    }),
    { numRuns: 2_000 },
  );
});
