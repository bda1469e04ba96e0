import { describe, expect, test } from "vitest";
import { isSecretMember } from "../../../src/core/manifests/secrets/secret-members.ts";
import { toPointer } from "../../../src/core/model/json/pointer.ts";
import { parsePlainYaml } from "../../../src/core/yaml/fast/transcode.ts";
import { fastPositions, libraryPositions, type Positions, positionsIn } from "../../../src/core/yaml/positions.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { brokenFlows } from "./fast/flow-texts.ts";
import { foldedScalars, mutatedManifest, yamlLines } from "./fast/texts.ts";

/** Pointers to every value, and to one absent member below each. */
function pointersOf(value: unknown, path: readonly string[] = []): readonly string[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [toPointer(path), toPointer([...path, "none"]), ...members.flatMap(([key, member]) => pointersOf(member, [...path, key]))];
}

/** Every result of `positions`, one line each. */
function everything(text: string, positions: Positions): readonly string[] {
  const offsets = (parsePlainYaml(text) ?? []).flatMap(({ index, value }) =>
    pointersOf(value).flatMap((pointer) =>
      (["key", "value"] as const).map((on) => `${index} ${pointer} ${on}: ${positions.offsetOf({ document: index, pointer, on })}`),
    ),
  );
  const { lineStarts } = positions;
  const masks = lineStarts.map(
    (start, index) => `masks of line ${index}: ${positions.masksIn(start, (lineStarts[index + 1] ?? text.length + 1) - 1).join(" ")}`,
  );
  return [...offsets, ...masks, `lines: ${lineStarts.join(" ")}`, `broken: ${positions.isBroken(0)}`];
}

const unsure = /: undefined$/u;

/** Both sets of results, without those that the fast path leaves to the library. */
function compared(text: string): readonly [fast: readonly string[], library: readonly string[], left: number] | undefined {
  const plain = fastPositions(text, isSecretMember);
  if (plain === undefined || (parsePlainYaml(text) ?? []).length === 0) return undefined;
  const fast = everything(text, plain);
  const library = everything(text, libraryPositions(text, isSecretMember));
  return [
    fast.filter((line) => !unsure.test(line)),
    library.filter((_, index) => !unsure.test(fast[index] ?? "")),
    fast.filter((line) => unsure.test(line)).length,
  ];
}

test("the fast path has positions of a plain text only", () => {
  expect(fastPositions("a: 1\n", isSecretMember)?.offsetOf({ document: 0, pointer: "/a" })).toBe(3);
  expect(fastPositions("a: !x 1\n", isSecretMember)).toBeUndefined();
  expect(fastPositions("a: &x 1\nb: *x\n", isSecretMember)).toBeUndefined();
  expect(fastPositions("a: |\n  b\n", isSecretMember)).toBeUndefined();
});

test.each([
  ["a document without a value", "---\n---\na: 1\n", { document: 0, pointer: "" }],
  ["an entry of a list without a value", "a:\n-\n", { document: 0, pointer: "/a/0" }],
  ["an offset in the text", "a: 1\n", { document: 0, pointer: "@1" }],
])("%s is left to the library", (_sentence, text, place) => {
  expect(fastPositions(text, isSecretMember)?.offsetOf(place)).toBeUndefined();
});

const secrets = `kind: Asset
spec:
  connection: { password: hunter2, x: 1, token: [a, { b: 12, $secret: c }, true] }
  "client_secret": { $secret: { env: A, "x": b } }
  api_key:
    - 'it''s'
    - e: "é\\"😀", f: 1
`.replace(", f: 1", "");

describe("positions and masks are those of the library, on", () => {
  test.each([
    ["secrets in every place", secrets],
    ["Windows line breaks and text beyond ASCII", "ü: { é: 😀, b: [ä, ö] } # ü\r\n\r\nc:\r\n  😀😀: token\r\n"],
    ["names in a schema tree", "kind: SchemaConfig\nspec: { token: a, schemas: { token: b, c: { $secret: d } } }\n"],
    ["names below labels", "kind: Tag\nlabels: { token: a, b: [{ token: c }] }\nx: [{ labels: [{ token: d }] }]\n"],
    ["names with a slash, a tilde and a quote, and an empty name", `"a/b": { 'c~d': 1, "": 2, "\\"": 3 }\n`],
    [
      "brackets over several lines",
      "kind: Asset\nspec:\n  token:\n    [a, # b\n\n     c, { d:\n     e },\n  ]\n  f: { password: g,\n    x: 1 }\n",
    ],
    ["a secret over several lines", "kind: Asset\nspec:\n  tokens:\n    - '\n     hunter2\n     hunter3'\n  x: 1\n"],
    ["several documents", "# c\n---\na: 1\n---\n---\nb:\n  - c:\n  - d: token\n"],
  ])("%s", (_sentence, text) => {
    const [fast, library, left] = compared(text) ?? [];
    expect(fast).toEqual(library);
    expect(left).toBe(0);
  });

  const numRuns = runs(100, 30_000);
  test.each([
    ["lines made of ordinary and unusual pieces", yamlLines],
    ["manifests with problems", mutatedManifest],
    ["flow collections over several lines", brokenFlows],
    ["scalars over several lines", foldedScalars],
  ])("%s", (_sentence, texts) => {
    let answered = 0;
    fc.assert(
      fc.property(texts, fc.boolean(), (lines, isWindows) => {
        const text = isWindows ? lines.replaceAll("\n", "\r\n") : lines;
        const found = compared(text);
        if (found === undefined) return;
        const [fast, library] = found;
        answered++;
        expect(fast).toEqual(library);
      }),
      { numRuns },
    );
    expect(answered).toBeGreaterThan(numRuns / 20);
  });
});

test("in a file of several documents, the library reads only what the fast path does not, and nothing of more than 2 MiB", () => {
  const plain = Array.from({ length: 1_100 }, (_, index) => `key_${index}: { note: ${"long ".repeat(400)}, enabled: true }\n`).join("");
  const text = `a: 0x1F\n---\n${plain}---\n${plain}mask: 0x1F\n---\npassword: !x secret\n`;
  const { offsetOf, masksIn, isBroken } = positionsIn(text);
  const second = text.indexOf("---");
  const third = text.indexOf("---", second + 1);
  expect(offsetOf({ document: 0, pointer: "/a" })).toBe(3);
  expect(offsetOf({ document: 1, pointer: "/key_1099/enabled" })).toBe(text.indexOf("true", text.indexOf("key_1099")));
  expect(offsetOf({ document: 2, pointer: "/key_1099" })).toBe(third);
  expect([0, 1, 2, 3].map(isBroken)).toEqual([false, false, true, false]);
  const secret = text.indexOf("secret", third);
  expect(masksIn(secret, text.length)).toEqual([[secret, text.length - 1]]);
});
