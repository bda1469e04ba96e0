import { describe, expect, it } from "vitest";
import { shorten } from "../../../src/features/mcp/shorten.ts";

const item = (index: number) => ({ address: `Tag/t${index}`, text: "x".repeat(90) });
const items = (count: number) => Array.from({ length: count }, (_, index) => item(index));
const columns = (count: number) => Object.fromEntries(items(count).map((one) => [one.address, { enabled: true, name: one.text }]));

/** [the document, bytes that fit, what is left out] */
const documents: Readonly<Record<string, readonly [unknown, number, readonly RegExp[]]>> = {
  "a document that fits": [{ items: items(3) }, 10_000, []],
  "a long list": [{ kind: "Plan", items: items(1_000), exit: { code: 2 } }, 10_000, [/^9\d\d of 1000 entries of \/items$/u]],
  "a list at the top": [items(1_000), 10_000, [/^9\d\d of 1000 entries of the result$/u]],
  "two long lists": [
    { items: items(500), manual: items(400), summary: { create: 1 } },
    10_000,
    [/^4\d\d of 500 entries of \/items$/u, /^3\d\d of 400 entries of \/manual$/u],
  ],
  "a list in one entry of a list": [
    { items: [item(1), { ...item(2), changes: items(1_000) }] },
    10_000,
    [/of 1000 entries of \/items\/1\/changes$/u],
  ],
  "a map of columns": [
    { public: { tables: { a: { columns: columns(1_000) } } } },
    10_000,
    [/of 1000 entries of \/public\/tables\/a\/columns$/u],
  ],
  "a long text": [{ message: "é".repeat(50_000), exit: 1 }, 10_000, [/of 50000 characters of \/message$/u]],
};

describe("a JSON document is shortened", () => {
  for (const [name, [document, maxBytes, expected]] of Object.entries(documents))
    it(name, () => {
      const { text, leftOut } = shorten(JSON.stringify(document), maxBytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(leftOut).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
      expect(Object.keys(JSON.parse(text)).length).toBe(
        Array.isArray(document) ? JSON.parse(text).length : Object.keys(document as object).length,
      );
    });

  it("and counts exactly what is left out", () => {
    const { text, leftOut } = shorten(JSON.stringify({ items: items(1_000) }), 10_000);
    expect(leftOut).toEqual([`${1_000 - JSON.parse(text).items.length} of 1000 entries of /items`]);
    expect(text.length).toBeGreaterThan(9_000);
  });
});

it("a text loses its last lines", () => {
  const { text, leftOut } = shorten("Zeile mit ü\n".repeat(1_000), 1_000);
  expect(text).toBe("Zeile mit ü\n".repeat(76));
  expect(leftOut).toEqual(["924 of 1000 lines"]);
});

it("a text without line breaks is cut between characters", () => {
  expect(shorten("€".repeat(100), 100).text).toBe("€".repeat(33));
});
