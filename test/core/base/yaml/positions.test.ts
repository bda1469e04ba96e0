// Where values, keys and secrets are in a text: as the package `yaml` places them.
import { describe, expect, test } from "vitest";
import { isMap, isScalar, isSeq, type Node } from "yaml";
import { toPointer } from "../../../../src/core/base/model/json/pointer.ts";
import { positionsIn } from "../../../../src/core/base/yaml/positions.ts";
import { read } from "../../../../src/core/base/yaml/read.ts";
import { isSecretMember } from "../../../../src/core/manifests/secrets/secret-members.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { brokenFlows } from "./flow-texts.ts";
import { documentsByLibrary } from "./library.ts";
import { blocksAndAnchors, foldedScalars, mutatedManifest, yamlLines } from "./texts.ts";

interface Place {
  readonly pointer: string;
  readonly on: "key" | "value";
  readonly offset: number;
}

/** The places below a node of the library; of a value that is not written, none. */
function placesIn(node: Node | null, path: readonly string[] = []): readonly Place[] {
  const pointer = toPointer(path);
  const [start = 0, end = 0] = node?.range ?? [];
  const own: readonly Place[] = node === null || start === end ? [] : [{ pointer, on: "value", offset: start }];
  if (isSeq<Node>(node)) return [...own, ...node.items.flatMap((item, index) => placesIn(item, [...path, String(index)]))];
  if (!isMap<Node, Node | null>(node)) return own;
  const members = node.items.flatMap(({ key, value }): readonly Place[] => {
    const inner = [...path, isScalar(key) ? String(key.value) : ""];
    const [from = 0, to = 0] = key.range ?? [];
    return [...(from === to ? [] : [{ pointer: toPointer(inner), on: "key" as const, offset: from }]), ...placesIn(value, inner)];
  });
  return [...own, ...members];
}

describe("positions are those of the library, on", () => {
  const numRuns = runs(100, 30_000);
  test.each([
    ["lines made of ordinary and unusual pieces", yamlLines],
    ["manifests with problems", mutatedManifest],
    ["flow collections over several lines", brokenFlows],
    ["block scalars, anchors and aliases", blocksAndAnchors],
    ["scalars over several lines", foldedScalars],
  ])("%s", (_sentence, texts) => {
    let answered = 0;
    fc.assert(
      fc.property(texts, fc.boolean(), (lines, isWindows) => {
        const text = isWindows ? lines.replaceAll("\n", "\r\n") : lines;
        const documents = read(text).problems.length > 0 ? undefined : documentsByLibrary(text);
        // The package counts an empty document before a `...` at the beginning.
        if (documents === undefined || /^\s*\.\.\.|[[,]\s*:/u.test(text)) return;
        answered++;
        const { offsetOf } = positionsIn(text);
        const expected = documents.flatMap(({ contents }, document) =>
          placesIn(contents).map(({ pointer, on, offset }) => `${document} ${pointer} ${on}: ${offset}`),
        );
        const found = documents.flatMap(({ contents }, document) =>
          placesIn(contents).map(({ pointer, on }) => `${document} ${pointer} ${on}: ${offsetOf({ document, pointer, on })}`),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns },
    );
    expect(answered).toBeGreaterThan(numRuns / 30);
  });
});

describe("what is not written is", () => {
  test.each([
    ["a document without a value", "---\n---\na: 1\n", { document: 0, pointer: "" }, 0],
    ["an entry of a list without a value", "a:\n-\n", { document: 0, pointer: "/a/0" }, 3],
    ["a member without a value", "a: 1\nb:\n", { document: 0, pointer: "/b" }, 5],
    ["an absent member", "a:\n  b: 1\n", { document: 0, pointer: "/a/c" }, 5],
    ["an absent member of an alias", "a: &x { b: 1 }\nc: *x\n", { document: 0, pointer: "/c/b" }, 11],
    ["an offset in the text", "a: 1\n", { document: 0, pointer: "@1" }, 1],
    ["in a document that is broken", "a: 1\n---\nb: 'x\n", { document: 1, pointer: "/b" }, 5],
  ])("%s", (_sentence, text, place, offset) => {
    expect(positionsIn(text).offsetOf(place)).toBe(offset);
  });
});

const secrets = `kind: Asset
spec:
  connection: { password: hunter2, x: 1, token: [a, { b: 12, $secret: c }, true] }
  "client_secret": { $secret: { env: A, "x": b } }
  api_key:
    - 'it''s'
    - e: "é\\"😀"
`;

describe("secrets are masked", () => {
  const masked = (text: string): readonly string[] =>
    positionsIn(text, isSecretMember)
      .masksIn(0, text.length)
      .map(([start, end]) => text.slice(start, end));
  test.each<readonly [sentence: string, text: string, masked: readonly string[]]>([
    ["in every place", secrets, ["hunter2", "a", "c", "b", "'it''s'", '"é\\"😀"']],
    [
      "not where they are names in a schema tree",
      "kind: SchemaConfig\nspec: { token: a, schemas: { token: b, c: { $secret: d } } }\n",
      ["a", "d"],
    ],
    [
      "not where they are names of labels",
      "kind: Tag\nlabels: { token: a, b: [{ token: c }] }\nx: [{ labels: [{ token: d }] }]\n",
      ["c", "d"],
    ],
    [
      "over several lines",
      "kind: Asset\nspec:\n  tokens:\n    - '\n     hunter2\n     hunter3'\n  x: 1\n",
      ["'\n     hunter2\n     hunter3'"],
    ],
    ["in a block", "kind: Asset\nspec:\n  token: |-\n    hunter2\n  x: 1\n", ["|-\n    hunter2\n"]],
    ["behind an alias, once", "kind: Asset\na: &x hunter2\nspec: { token: *x, password: [*x, *x] }\n", ["hunter2"]],
    ["in the other documents, if one is broken", "a: 'x\n---\nkind: Asset\nspec: { token: b }\n", ["b"]],
  ])("%s", (_sentence, text, expected) => {
    expect(masked(text)).toEqual(expected);
  });
  test("and only those of the lines asked for", () => {
    const { masksIn } = positionsIn(secrets, isSecretMember);
    const line = secrets.indexOf("  api_key");
    expect(masksIn(line, secrets.length).map(([start, end]) => secrets.slice(start, end))).toEqual(["'it''s'", '"é\\"😀"']);
  });
});
