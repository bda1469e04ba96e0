// A broken file hides the problems of no other.
import { expect, test } from "vitest";
import { asset, testProblems } from "./problem-table.ts";
import { headings, load, manifest } from "./project-on-disk.ts";

const nested = ["b:a", "c:b", "d:c", "e:d", "f:e", "g:f"].map((pair) => `    ${pair[0]}: &${pair[0]} [${Array(9).fill(`*${pair[2]}`)}]`);
const named = (name: string) => manifest("Asset", name, "spec: { name: W }");

testProblems({
  // The YAML itself
  "a second colon on a line": ["a: b: c\n", ["1:4 E_YAML_SYNTAX"], /same line/u],
  "a quote that is not closed, at the quote": ['a: "b\nc: d\n', ["1:4 E_YAML_SYNTAX"], /double quote is never closed/u],
  "a brace that is not closed, at the brace": [
    "a:\n  b: { c: 1\n  d: 2\n",
    ["2:6 E_YAML_SYNTAX"],
    /`\{` is not closed, and line 3 .* Add `\}`/u,
  ],
  "a brace that is not closed at the end": ["a: {\n  b: [1,\n    2]\n", ["1:4 E_YAML_SYNTAX"], /`\{` is never closed/u],
  "a bracket that a brace closes": ["a: { b: [1, 2 }\nc: 1\n", ["1:9 E_YAML_SYNTAX"], /`\[` is closed by `\}` on line 1/u],
  "an apostrophe in single quotes": ["a: 'it's'\n", ["1:8 E_YAML_SYNTAX"], /apostrophe twice/u],
  "conflict markers of git": ["<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n", ["1:1 E_YAML_SYNTAX"], /conflict markers of git.*Resolve/u],
  "conflict markers further down": ["a: 1\nb:\n<<<<<<< HEAD\n  c: 1\n=======\n  c: 2\n>>>>>>> x\n", ["3:1 E_YAML_SYNTAX"], /conflict/u],
  "a tab as indentation": ["a:\n\tb: 1\n", ["2:1 E_YAML_SYNTAX"], /Use spaces/u],
  "keys that begin in different columns": [
    "a: 1\n b: 2\n",
    ["2:2 E_YAML_SYNTAX"],
    /begins in column 2\. The keys above it begin in column 1\./u,
  ],
  "a key between two levels": [
    "a:\n    b: 1\n  c: 2\n",
    ["3:3 E_YAML_SYNTAX"],
    /begins in column 3\. The keys above it begin in columns 1 and 5\./u,
  ],
  "an item that begins in another column": [
    "a:\n  b:\n    - c: 1\n   - c: 2\n",
    ["4:4 E_YAML_SYNTAX"],
    /begins in column 4\. The items above it begin in column 5\./u,
  ],
  "an unknown tag": ["a: !php/object x\n", ["1:4 E_YAML_SYNTAX"], /not allowed/u],
  "a list as a key": ["? [a]\n: b\n", ["1:3 E_YAML_SYNTAX"], /cannot be a key/u],
  "an alias without an anchor": ["a: [1, *b]\n", ["1:8 E_YAML_SYNTAX"], /no anchor/u],
  "an alias inside its anchor": [asset("  connection: &a { b: *a }"), ["6:23 E_YAML_SYNTAX"]],
  "aliases that expand to millions of values": [
    asset("  connection:", "    a: &a [x,x,x,x,x,x,x,x,x]", ...nested),
    ["13:12 E_YAML_SYNTAX"],
    /far more than is written/u,
  ],
  "values nested too deeply": [
    `${asset("  connection:")}    a: ${"[".repeat(300)}${"]".repeat(300)}\n`,
    ["7:207 E_YAML_SYNTAX"],
    /more than 200 levels/u,
  ],
  "dashes nested too deeply": [`a:\n  ${"- ".repeat(300)}b\n`, ["2:405 E_YAML_SYNTAX"]],
  "blocks nested too deeply, and only their document": [
    `a: b: c\n---\n${Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")}---\n${manifest("Tagg", "x")}`,
    ["1:4 E_YAML_SYNTAX", "204:202 E_YAML_SYNTAX", "305:7 E_UNKNOWN_KIND"],
  ],
  "a duplicate key, with the line of the first one": [asset("  type: a", "  type: b"), ["7:3 E_DUPLICATE_KEY"], /line 6/u],
  "a missing line between two documents": [
    `${asset()}${asset()}${asset()}`,
    ["6:1 E_DUPLICATE_KEY", "11:1 E_DUPLICATE_KEY"],
    /already on line 1.* add a line `---`/u,
  ],
  "a duplicate key at the top": [asset().replace("spec:", "kind: Asset\nspec:"), ["4:1 E_DUPLICATE_KEY"], /line 2/u],
  "a duplicate key, once in quotes": [asset('  connection: { "1": a, 1: b }'), ["6:25 E_DUPLICATE_KEY"]],
  "two problems in two documents of a file": ["a: b: c\n---\nd: e: f\n", ["1:4 E_YAML_SYNTAX", "3:4 E_YAML_SYNTAX"]],
  "the documents after a broken one are still checked": [
    `a: b: c\n---\n${manifest("Tagg", "x")}`,
    ["1:4 E_YAML_SYNTAX", "4:7 E_UNKNOWN_KIND"],
  ],
  "a number that is too large": [
    asset("  connection: { a: 12345678901234567890, b: .inf }"),
    ["6:20 E_WRONG_VALUE", "6:45 E_WRONG_VALUE"],
    /quotes/u,
  ],

  // The kind and name of a manifest
  "a list instead of a manifest": ["- a\n", ["1:1 E_WRONG_TYPE"], /a map with apiVersion/u],
  "no kind": ["apiVersion: dimsync/v1\n", ["1:1 E_MISSING_KEY"]],
  "a mistyped kind": [manifest("Tagg", "x"), ["2:7 E_UNKNOWN_KIND"], /Did you mean Tag\?/u],
  "a kind with the name of a member of every object": [manifest("constructor", "x"), ["2:7 E_UNKNOWN_KIND"]],
  "a kind that is not a string": ["kind: 3\n", ["1:7 E_WRONG_TYPE"]],
  "a second config": ["apiVersion: dimsync/v1\nkind: Config\n", ["2:7 E_UNKNOWN_KIND"], /--config/u],
  "another apiVersion": [named("a").replace("v1", "v2"), ["1:13 E_WRONG_VALUE"], /must be `dimsync\/v1`, but is "dimsync\/v2"/u],
  "a name with capitals": [named("Wh"), ["3:19 E_WRONG_VALUE"], /but is "Wh"/u],
  "a name that is a number": [named("12"), ["3:19 E_WRONG_TYPE"], /Put it in quotes/u],
  "no name": [named("a").replace("{ name: a }", "{}"), ["3:1 E_MISSING_KEY"], /`name`/u],
  "no metadata": ["apiVersion: dimsync/v1\nkind: Asset\nspec: { name: W }\n", ["1:1 E_MISSING_KEY"], /metadata: \{ name/u],
  "the same name twice": [`${asset()}---\n${asset()}`, ["9:19 E_DUPLICATE_NAME"], /already declared in m\.yaml:3/u],
});

test("all files are checked in one pass, and valid manifests are still loaded", async () => {
  const files = { "a.yaml": "a: b: c", "b.yaml": manifest("Tagg", "x"), "c.yaml": asset("  typ: x"), "d.yaml": named("ok") };
  const { diagnostics, manifests } = await load(files, { paths: ["."] });
  expect(headings(diagnostics)).toEqual(["a.yaml:1:4 E_YAML_SYNTAX", "b.yaml:2:7 E_UNKNOWN_KIND", "c.yaml:6:3 E_UNKNOWN_KEY"]);
  expect(manifests.map(({ address }) => address)).toEqual(["Asset/ok"]);
});

test("nesting that would overflow the stack is a problem, not a crash", async () => {
  const { diagnostics } = await load({ "m.yaml": `a: ${"[".repeat(50_000)}` }, { paths: ["m.yaml"] });
  expect(diagnostics.map(({ code }) => code)).toEqual(["E_YAML_SYNTAX"]);
});
