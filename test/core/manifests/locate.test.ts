// A problem is shown at its line and column, with an excerpt.
import { describe, expect, test } from "vitest";
import { makeCodeFrame, makeLocate } from "../../../src/core/manifests/locate.ts";
import { runCommand } from "../../support/command.ts";
import { writeProject } from "../../support/project-folder.ts";

const locateIn = (text: string) => makeLocate("/", () => text);
const at = (text: string, pointer: string, on: "key" | "value" = "value", document = 0) =>
  locateIn(text)({ file: "m.yaml", document, pointer, on });

describe("positions in a text", () => {
  const text = "a:\n  - x: 1\n    'a/b': { \"c~d\": é, e: }\nempty:\n---\n# second\nz: &n [p, q]\ny: *n\n";
  const rows: Readonly<Record<string, readonly [pointer: string, on: "key" | "value", document: number, line: number, column: number]>> = {
    "the document": ["", "value", 0, 1, 1],
    "a value in a list": ["/a/0/x", "value", 0, 2, 8],
    "its key": ["/a/0/x", "key", 0, 2, 5],
    "an entry of a list": ["/a/0", "value", 0, 2, 5],
    "names with a slash and a tilde": ["/a/0/a~1b/c~0d", "value", 0, 3, 21],
    "nothing after the colon: the key": ["/a/0/a~1b/e", "value", 0, 3, 24],
    "a key at the end of the document without a value": ["/empty", "value", 0, 4, 1],
    "a missing member: the map that lacks it": ["/a/0/none/deeper", "value", 0, 2, 5],
    "the second document": ["/z/1", "value", 1, 7, 11],
    "an alias": ["/y", "value", 1, 8, 4],
    "a value behind an alias: where it is written": ["/y/1", "value", 1, 7, 11],
    "an offset": ["@4", "value", 0, 2, 2],
  };
  test.each(Object.entries(rows))("%s", (_name, [pointer, on, document, line, column]) => {
    expect(at(text, pointer, on, document)).toMatchObject({ file: "m.yaml", line, column });
  });
  test("a missing document has no line", () => {
    expect(at(text, "", "value", 9)).toEqual({ file: "m.yaml" });
  });
  test("the last one of duplicate keys, as in the values", () => {
    expect(at("a: 1\na: 2\n", "/a")).toMatchObject({ line: 2, column: 4 });
  });
  test("an empty text and one that overflows the parser are located at their beginning", () => {
    expect(at("", "")).toMatchObject({ line: 1, column: 1, excerpt: ["", "^"] });
    expect(at(`a: ${"[".repeat(50_000)}`, "/b").line).toBe(1);
  });
});

describe("an excerpt shows", () => {
  const rows: Readonly<Record<string, readonly [text: string, pointer: string, source: string, caret: string]>> = {
    "the line with a caret under the value": ["a:\n  b: c\n", "/a/b", "  b: c", "     ^"],
    "no carriage returns": ["a: 1\r\nb: 2\r\n", "/b", "b: 2", "   ^"],
    "tabs stay in both lines": ["'x\ty': { b: 1 }\n", "/x\ty/b", "'x\ty': { b: 1 }", "  \t         ^"],
    "a secret is masked": ["password: hunter2\n", "/password", "password: ***", "          ^"],
    "a secret before the position moves the caret": ["{ token: hunter2, b: 1 }\n", "/b", "{ token: ***, b: 1 }", "                 ^"],
    "a secret in quotes, and one that is a number": [
      '{ a: 1, token: "hunter2", api_key: 1234 }',
      "/a",
      "{ a: 1, token: ***, api_key: *** }",
      "     ^",
    ],
    "every literal below a secret name": [
      "{ x: 1, tokens: [hunter2, { a: hunter2 }] }",
      "/x",
      "{ x: 1, tokens: [***, { a: *** }] }",
      "     ^",
    ],
    "a secret's source is shown": [
      "{ x: 1, token: { $secret: { env: NAME } } }",
      "/x",
      "{ x: 1, token: { $secret: { env: NAME } } }",
      "     ^",
    ],
    "a value instead of a source is not shown": ["{ x: 1, t: { $secret: hunter2 } }", "/x", "{ x: 1, t: { $secret: *** } }", "     ^"],
    "a line of a block": ["token: |\n  hunter2\n  more\nb: 1\n", "@11", "  ***", "  ^"],
    "a block's first line": ["token: |\n  hunter2\nb: 1\n", "/token", "token: ***", "       ^"],
    "the anchor of a secret": ["a: &p hunter2\ntoken: *p\n", "/a", "a: &p ***", "      ^"],
    "a password in a URL": ["a: https://u:hunter2@example.com\n", "/a", "a: ***", "   ^"],
    "names in a schema tree are not secrets": [
      "kind: SchemaConfig\nspec: { schemas: { tokens: { enabled: 'yes' } } }\n",
      "/spec/schemas/tokens/enabled",
      "spec: { schemas: { tokens: { enabled: 'yes' } } }",
      `${" ".repeat(38)}^`,
    ],
  };
  test.each(Object.entries(rows))("%s", (_name, [text, pointer, source, caret]) => {
    expect(at(text, pointer).excerpt).toEqual([source, caret]);
  });

  const broken: Readonly<Record<string, string>> = {
    "a quote that is not closed": 'password: "hunter2\nb: 1\n',
    "a quote that is not closed, over lines": 'password: "x\n  hunter2\n  : y: z',
    "a block whose indentation breaks": "password: |\n    x\n  hunter2\nb: 1\n",
    "a flow map that is not closed": "a: { password: hunter2, b: 1\nc: 2\n",
    "two colons": "a: b: c\npassword: hunter2\n",
    "an extra bracket": "password: hunter2 ]\n]: x\n",
    "a key in quotes": '"my_password": "hunter2\n',
    "the URL of a webhook": "kind: Config\nnotify: { url: https://example.com/hunter2\nformat: slack\n",
    "a list of secrets": "tokens:\n  - x\n - hunter2\n",
  };
  test.each(Object.entries(broken))("no line of a text that is not YAML shows a secret: %s", (_name, text) => {
    const locate = locateIn(text);
    for (let offset = 0; offset <= text.length; offset += 1) {
      expect(JSON.stringify(locate({ file: "m.yaml", document: 0, pointer: `@${offset}` }))).not.toContain("hunter2");
    }
  });
});

describe("long lines are cut to 160 characters around the column", () => {
  const line = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(4, "0")).join("");
  test.each([0, 1, 79, 80, 81, 200, 319, 320, 398, 399])("column %i", (column) => {
    const [source, caret] = makeCodeFrame(line, column, []);
    expect(source.length).toBeLessThanOrEqual(160);
    expect(source[caret.length - 1]).toBe(line[column]);
    expect(source.replaceAll("…", "").length).toBeGreaterThan(150);
    expect(line).toContain(source.replaceAll("…", ""));
  });
  test("a column after the end stays after it", () => {
    expect(makeCodeFrame("ab", 2, [])).toEqual(["ab", "  ^"]);
  });
});

test("lines of a file outside the project are not quoted, although --allow-path lets the project name it", async () => {
  const outside = writeProject({ "token.yaml": "token: canary\nkind: {\n" });
  const folder = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests, ${JSON.stringify(outside)}]\n`,
    "manifests/tag.yaml": "token: own\nkind: [\n",
  });
  for (const format of ["human", "json", "markdown"]) {
    const { code, stdout, stderr } = await runCommand(["validate", "--allow-path", outside, "-o", format], folder);
    const text = stdout + stderr;
    expect([format, code, text.includes("token.yaml"), text.includes("canary"), text.includes("kind: [")]).toEqual([
      format,
      1,
      true,
      false,
      true,
    ]);
  }
});
