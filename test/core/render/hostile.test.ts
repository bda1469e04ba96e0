// No name of the account can be mistaken for text of dimsync, in any format.
import { parse as parseCsv } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { jsonDocument } from "../../../src/core/base/text/control-characters.ts";
import { blockLines } from "../../../src/core/base/yaml/print.ts";
import { type Document, type RenderOptions, renderers } from "../../../src/core/render/index.ts";
import { registerCsv } from "../../../src/features/register/command.ts";
import { registerOf, rows } from "../../features/register/registers.ts";
import fc, { anyCodePoint } from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { invalid } from "./diagnostics.ts";
import { driftReport, fullPlan, planOfColumns } from "./full-plan.ts";
import { withName } from "./hostile.ts";
import { faults } from "./markdown/structure.ts";
import { fullResult } from "./results.ts";

const documents: readonly Document[] = [fullPlan, driftReport, fullResult, invalid, planOfColumns(26)];
const plain: RenderOptions = { color: false, verbose: false };
// Characters that control a terminal, or reorder or hide text. Line feeds are the only control
// characters allowed in output.
const dangerous = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const names: Readonly<Record<string, string>> = {
  "a colour and a cursor movement": "\u001b[31mred\u001b[2A",
  "a title and a link for the terminal": "\u001b]0;title\u0007\u001b]8;;https://example.com\u001b\\here",
  "a C1 control sequence": "\u009b31m",
  "right-to-left text": "\u202egnp.exe\u2066",
  "zero width, soft hyphen and byte order mark": "a\u200bb\u00adc\ufeff",
  "a lone surrogate and a tag character": "\ud800x\u{e0041}",
  "line and paragraph separators": "a\u2028b\u2029c\u0085d",
  "carriage return and delete": "good\rbad\u007f\b",
  "pipes and backticks": "a|b`c``d|```\\|",
  html: "</details><script>alert(1)</script><!--<img src=x onerror=y>",
  "a mention, a reference, a link": "@everyone #1 [x](https://example.com) ![y](z) www.example.com",
  "a new heading, list and fence": "x\n\n# Heading\n- [x] done\n```\n~~~\n===\n",
  "emphasis and entities": "__proto__ *a* ~~b~~ &lt; &#64; $x$",
  "a line of its own": "x\nFORGED No changes.\r\n::error::forged\n##[error]forged",
  "a trailing backslash": "x\\",
  "only spaces": "   ",
};

describe.each(Object.entries(names))("a name of %s", (_, name) => {
  test.each(["human", "json", "markdown", "github"] as const)("is escaped by %s, and begins no line", (format) => {
    for (const document of documents) {
      const text = renderers[format](withName(document, name), { ...plain, verbose: true });
      expect(text).not.toMatch(/^\s*(?:FORGED|::error::)/mu);
      expect(text.replaceAll("\n", "")).not.toMatch(dangerous);
    }
  });

  test.each([60_000, 3_000, 100])("leaves the Markdown well-formed in %i characters", (budget) => {
    for (const document of documents) expect(faults(renderers.markdown(withName(document, name), { ...plain, budget }))).toEqual([]);
  });
});

const anyName = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\0", "\n", "\r", "\u2028", "\u0085", "\u202e", "\u2066", "\ud800", "\udfff", "\u001b", "::", "##[", "=", "'", "\\"),
    anyCodePoint,
  ),
  maxLength: 12,
});
const markupName = fc.string({ unit: fc.constantFrom(..."`|\\<>&@#*_~[]()!-+=. \n\t1a/:'\"$"), maxLength: 14 });

test("names with any characters are escaped for the terminal", () => {
  fc.assert(
    fc.property(
      anyName,
      fc.constantFrom(...documents),
      fc.constantFrom("human", "json", "markdown", "github"),
      (name, document, format) => {
        expect(renderers[format](withName(document, name), plain).replaceAll("\n", "")).not.toMatch(dangerous);
      },
    ),
    { numRuns: runs(30, 1_500) },
  );
});

test("names with markup do not break the Markdown", () => {
  fc.assert(
    fc.property(markupName, fc.constantFrom(...documents), (name, document) => {
      expect(faults(renderers.markdown(withName(document, name), plain))).toEqual([]);
    }),
    { numRuns: runs(40, 2_000) },
  );
});

test("any text in JSON, YAML and CSV is safe, and JSON and YAML have the same value", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const [json, yaml] = [jsonDocument({ [name]: [name] }), `${blockLines({ [name]: [name] }).join("\n")}\n`];
      const [row] = rows;
      if (row === undefined) throw new Error("There is no row.");
      const csv = registerCsv(registerOf([{ ...row, column: name, reason: name }]));
      for (const text of [json, yaml, csv.replaceAll("\r\n", "\n")]) expect(text.replaceAll("\n", "")).not.toMatch(dangerous);
      for (const text of [json, yaml]) expect(text).not.toContain("##[");
      expect([JSON.parse(json), parse(yaml)]).toEqual([{ [name]: [name] }, { [name]: [name] }]);
      expect(parseCsv(csv).flat()).not.toContainEqual(expect.stringMatching(/^[=+\-@\t\r]/u));
    }),
    { numRuns: runs(120, 3_000) },
  );
});

test("different names are shown differently, even if they look the same", () => {
  const shown = ["orders", "orders ", "orders\u200b", "ordеrs\u00ad", '"orders"', "orders\\u200b"].map((name) => {
    const text = renderers.human(withName(planOfColumns(1), name), plain);
    return text.split("\n").find((line) => line.includes("hashed"));
  });
  expect(new Set(shown).size).toBe(shown.length);
});

test("the checker of the Markdown finds errors", () => {
  const broken = ["<details>", "```\nx", "a `b", "| a | b |\n| c |", "x | y", "hello @you", "see #1", "<b>x</b>", "[x](y)"];
  expect(broken.filter((text) => faults(text).length === 0)).toEqual([]);
});
