import fc from "../../../support/fast-check.ts";
import { ending, key, ordinary, scalar } from "./pieces.ts";

const indentation = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(4, 6, 8, 11) }, { weight: 2, arbitrary: fc.nat(5) });
const before = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("\n", " \n") },
  { weight: 2, arbitrary: fc.constantFrom(" # c\n", " # c, ]\n", " #\n", "\n\n", "\n   \n") },
  { weight: 2, arbitrary: indentation.map((spaces) => `\n${" ".repeat(spaces)}# c: [\n`) },
);
/** Where a flow collection may be broken: with comments and empty lines, and an indentation that may be too small. */
export const lineBreak: fc.Arbitrary<string> = fc.tuple(before, indentation).map(([start, spaces]) => start + " ".repeat(spaces));

/** Characters that are not blank, or only look so. */
const odd = fc.constantFrom(
  "\t",
  "\n\t",
  "#c\n    ",
  "\n---\n  ",
  "\n...\n",
  "\n- ",
  "\n    - ",
  ",",
  ":",
  " :",
  "]",
  "}",
  "\r",
  "\n    ? ",
  "\n  &a ",
);
const gap = fc.oneof(
  { weight: 50, arbitrary: fc.constantFrom("", " ", "") },
  { weight: 18, arbitrary: lineBreak },
  { weight: 1, arbitrary: odd },
);
const gapBehindColon = fc.oneof(
  { weight: 8, arbitrary: fc.constant(" ") },
  { weight: 2, arbitrary: lineBreak },
  { weight: 1, arbitrary: gap },
);
const gapBeforeColon = fc.oneof({ weight: 40, arbitrary: fc.constant("") }, { weight: 1, arbitrary: gap });
const lastComma = fc.constantFrom("", "", "", ",");

const ordinaryKey = fc.constantFrom("a", "b", "c1", "d", "token", "$secret", '"q"', "x y");
const name = fc.oneof({ weight: 30, arbitrary: ordinaryKey }, { weight: 1, arbitrary: key });
const leaf = fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...ordinary) }, { weight: 1, arbitrary: scalar });

const inside = (part: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.array(part, { maxLength: 4 }), lastComma, gap).map(([parts, comma, end]) => parts.join(",") + comma + end);
const { collection } = fc.letrec<{ readonly value: string; readonly collection: string }>((tie) => {
  const entry = fc.tuple(gap, tie("value"), gap);
  const member = fc.tuple(gap, name, gapBeforeColon, fc.constant(":"), gapBehindColon, tie("value"), gap);
  return {
    value: fc.oneof({ depthSize: "small" }, { weight: 5, arbitrary: leaf }, { weight: 2, arbitrary: tie("collection") }),
    collection: fc.oneof(
      inside(entry.map((parts) => parts.join(""))).map((text) => `[${text}]`),
      inside(member.map((parts) => parts.join(""))).map((text) => `{${text}}`),
    ),
  };
});

/** Flow collections in flow collections over any number of lines, on the line of their key or dash or below it. */
export const brokenFlow: fc.Arbitrary<string> = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: fc.constant(" ") }, { weight: 2, arbitrary: lineBreak }), collection)
  .map((parts) => parts.join(""));

/** Where import writes flow collections, and deeper. */
const places: readonly ((value: string) => string)[] = [
  (value) => `a:${value}`,
  (value) => `# c\nk: 1\nm:\n  a:${value}\n  z: # c\n`,
  (value) => `m:\n- a:${value}\n  z: 1\n- x\n`,
  (value) => `m:\n  -${value}\n  -${value}\nz:\n`,
  (value) => `- m:\n    a:${value}\n# c\n    b:${value}\n---\na: 1`,
  (value) => `m:\n   # c\n#c\n   a:${value}\n#c\nb: 1`,
];

/** Texts with one flow collection, or with the same one twice. */
export const brokenFlows: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...places), brokenFlow, ending)
  .map(([place, value, end]) => place(value + end));
