import { describe, expect, test } from "vitest";
import { parseParts } from "../../../src/records/files/json-parts.ts";

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The value, and the elements that were handed over. */
async function parsed(text: string, size: number) {
  const elements: unknown[] = [];
  const value = await parseParts(chunksOf(text, size), (element) => {
    elements.push(element);
    return element;
  });
  return { value, elements };
}

const texts: Readonly<Record<string, readonly [text: string, elements: readonly unknown[]]>> = {
  "a document": ['{ "kind": "Plan", "items": [{ "a": [1, "x]"] }, { "b": "}" }], "n": 1 }', [{ a: [1, "x]"] }, { b: "}" }]],
  "a list of documents": ['[{"items":[1,2]},{"items":[],"x":{}},{"items":[[3]]}]', [1, 2, [3]]],
  "other members named items": ['{"x":{"items":[1]},"y":[{"items":[2]}],"items":{"items":[3]}}', []],
  "a string named items": ['{"a":"items","b":[1],"items":"items"}', []],
  "an escaped key": ['{"\\u0069tems":[7],"x":"\\"items\\":["}', [7]],
  "two members with the name": ['{"items":[1,2],"items":[3]}', [1, 2, 3]],
  "no elements": ['{"items":[ \n ]}', []],
  "strings with quotes, backslashes and other scripts": [
    '{"items":["\\\\","\\"]","ü\u{1f600}\u2028"],"ü":"é"}',
    ["\\", '"]', "ü\u{1f600}\u2028"],
  ],
  "a scalar": ['"items"', []],
};

describe("the value is that of JSON.parse, however the bytes are split", () => {
  test.each(Object.entries(texts))("%s", async (_sentence, [text, elements]) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(await parsed(text, size)).toEqual({ value: JSON.parse(text), elements });
  });
});

describe("what is not JSON is refused", () => {
  test.each([
    "",
    "{",
    '{"items":[1',
    '{"items":[1,',
    '{"items":[{"a":1]}',
    '{"items":[1 2]}',
    '{"items":[1,,2]}',
    '{"items":[1}',
    '{"items":["a}',
    "[1]]",
  ])("%s", async (text) => {
    for (const size of [1, 1000]) await expect(parsed(text, size)).rejects.toThrow(SyntaxError);
  });
});

test("what stands for an element takes its place", async () => {
  expect(await parseParts(chunksOf('{"items":[1,2],"n":1}', 5), (element) => `kept ${String(element)}`)).toEqual({
    items: ["kept 1", "kept 2"],
    n: 1,
  });
});
