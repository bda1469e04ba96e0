import { expect, test } from "vitest";
import { registerText } from "../../../../src/features/register/render/human.ts";
import { registerOf, rows } from "./registers.ts";

test("an integration may have more columns than a function has arguments", () => {
  const [row] = rows;
  if (row === undefined) throw new Error("There are no rows.");
  const many = Array.from({ length: 130_000 }, (_, index) => ({ ...row, column: `c${index}` }));
  expect([...registerText(registerOf(many), { color: false, width: 400, verbose: false })].join("")).toContain(".c129999 ");
});
