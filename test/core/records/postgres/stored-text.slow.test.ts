// Everything that a JSON document can have in a string, and the character of the escapes.
import { expect, it, onTestFinished } from "vitest";
import { jsonParameter, openDatabase } from "../../../../src/core/records/postgres/connection.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { sharedPostgres } from "../../../support/postgres/shared.ts";
import { needs } from "../../../support/programs.ts";
import { runs } from "../../../support/sample.ts";

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\0", "\ud800", "\udfff", "\ud83d", "\ude00", "\ufdd0", "\u202e", "\n", "\r", "\u2028", "\\", "'", "0000"),
    anyCodePoint,
  ),
  maxLength: 8,
});

it("texts in a database come back as they were", needs("postgresql"), async () => {
  const database = openDatabase(await (await sharedPostgres()).database());
  onTestFinished(() => database.close());
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 5 }), async (texts) => {
      const [text = ""] = texts;
      const value = Object.fromEntries(texts.map((one) => [`k${one}`, [one]]));
      const { rows } = await database.query(
        "select $1::text as text, $2::text[] as list, $3::jsonb as value, ($3::jsonb ->> $4) as member where $1 = $5",
        [text, texts, jsonParameter({ ...value, x: text }), "x", text],
      );
      expect(rows).toEqual([{ text, list: texts, value: { ...value, x: text }, member: text }]);
    }),
    { numRuns: runs(100, 2_000) },
  );
});
