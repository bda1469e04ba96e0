// Of several exit codes, the most serious one counts.
import { describe, expect, it } from "vitest";
import { combineExits, type ExitCode } from "../../../../src/core/base/model/exit.ts";

describe("several exit codes at once: 130, then 1 > 5 > 6 > 3 > 4 > 2 > 0", () => {
  const order: readonly ExitCode[] = [130, 1, 5, 6, 3, 4, 2, 0];
  for (const [index, code] of order.entries())
    it(`${code} wins over ${order.slice(index + 1).join(", ") || "nothing"}`, () => {
      const all = order.slice(index).map((one) => ({ code: one, reasons: [`r${one}`] }));
      expect(combineExits([...all].reverse())).toEqual({ code, reasons: all.map(({ reasons }) => reasons[0]) });
    });
});
