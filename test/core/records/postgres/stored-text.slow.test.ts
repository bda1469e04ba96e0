import { expect, it } from "vitest";
import { jsonParameter } from "../../../../src/core/records/postgres/stored-text.ts";
import { rowsOf } from "../../../../src/features/controller/database/rows.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { describeDatabases } from "../../../support/postgres/controller-database.ts";
import { runs } from "../../../support/sample.ts";

// Everything that a JSON document can have in a string, and the character of the escapes.
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\0", "\ud800", "\udfff", "\ud83d", "\ude00", "\ufdd0", "\u202e", "\n", "\r", "\u2028", "\\", "'", "0000"),
    anyCodePoint,
  ),
  maxLength: 8,
});

describeDatabases("texts in a database", (database) => {
  it("come back as they were", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 5 }), async (texts) => {
        const [text = ""] = texts;
        const value = Object.fromEntries(texts.map((one) => [`k${one}`, [one]]));
        const [row] = await rowsOf<{
          readonly text: string;
          readonly list: readonly string[];
          readonly value: unknown;
          readonly member: string;
        }>(database(), `select $1::text as text, $2::text[] as list, $3::jsonb as value, ($3::jsonb ->> $4) as member`, [
          text,
          texts,
          jsonParameter({ ...value, x: text }),
          "x",
        ]);
        expect(row).toEqual({ text, list: texts, value: { ...value, x: text }, member: text });
        const { rows } = await database().query("select $1::text as text, $2::jsonb as value where $1 = $3", [
          text,
          jsonParameter(value),
          text,
        ]);
        expect(rows).toEqual([{ text, value }]);
      }),
      { numRuns: runs(100, 2_000) },
    );
  });
});
