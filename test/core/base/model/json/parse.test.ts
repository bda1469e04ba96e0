// JSON is read to a bounded depth, and a name that is there twice is found.
import { describe, expect, test } from "vitest";
import { parseJson, parseResponse, repeatedNames } from "../../../../../src/core/base/model/json/parse.ts";

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const maps = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  "the text of a file": parseJson,
  "the text of a response": (text) => parseResponse(text, Buffer.from(text)).value,
};

describe.each(Object.entries(parsers))("%s", (_name, parse) => {
  test.each<readonly [string, string]>([
    ["200 lists", lists(200)],
    ["200 maps", maps(200)],
    ["brackets in a name and a value", JSON.stringify({ ["[".repeat(300)]: "{".repeat(300) })],
    ["many lists side by side", `[${Array.from({ length: 300 }, () => "[1]").join()}]`],
    ["brackets in the strings of a long text", JSON.stringify([`\\"${"[".repeat(2_000_000)}`, "{".repeat(300)])],
    ["many lists side by side in a long text", `[${Array.from({ length: 400_000 }, () => "[1]").join()}]`],
    ["values that are null", '[null, {"a": null}]'],
  ])("%s are read", (_sentence, text) => {
    expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  test.each<readonly [string, string]>([
    ["201 lists", lists(201)],
    ["201 maps", maps(201)],
    ["201 levels of both", `{"b": ${lists(200)}}`],
    ["201 levels below a special name", `{"__proto__": ${maps(200)}}`],
    ["a million lists", lists(1_000_000)],
    ["a million maps", maps(1_000_000)],
    // As lists, these need 3 GB.
    ["64 megabytes of brackets", "[".repeat(64 * 1024 * 1024)],
  ])("%s are refused", (_sentence, text) => {
    expect(() => parse(text)).toThrow("is nested more than 200 levels deep");
  });
});

test.each<readonly [string, string, readonly (readonly string[])[]]>([
  ["no name is there twice", '{"a": {"b": [{"c": 1}, {"c": 2}], ":": "\\":"}, "b": {}}', []],
  ["no name is there twice beside a long string", JSON.stringify({ a: '":{\\'.repeat(2_000_000) }), []],
  ["a name is there twice in one map", '{"a": {"b": {"x": 1}, "c": [], "b": {"x": 2}}}', [["a", "b"]]],
  ["a name is there in two spellings", '{"a": 1, "\\u0061": 2}', [["a"]]],
  ["a special name is there twice", '{"t": {"__proto__": 1, "__proto__": 1}}', [["t", "__proto__"]]],
  [
    "names are there twice in several maps",
    '{"a": {"x": 1, "x": 2}, "b": [{"y": 1, "y": 2, "y": 3}]}',
    [
      ["a", "x"],
      ["b", "", "y"],
      ["b", "", "y"],
    ],
  ],
])("%s", (_sentence, text, names) => {
  expect([...repeatedNames(parseResponse(text, Buffer.from(text)))]).toEqual(names);
});
