import { describe, expect, it } from "vitest";
import { combineExits, type ExitCode } from "../../src/model/exit.ts";
import { scene, tagManifest } from "./scene.ts";

describe("exit codes that speak of differences", () => {
  it("plan: 0 with changes, 2 with --detailed-exitcode or --fail-on changes, 0 again once they are applied", async () => {
    const at = await scene(tagManifest("the best"));
    expect((await at.plan()).code).toBe(0);
    expect((await at.plan("--detailed-exitcode")).code).toBe(2);
    expect((await at.plan("--fail-on", "changes")).code).toBe(2);
    expect((await at.run(["drift"])).code).toBe(2);
    expect((await at.apply()).code).toBe(0);
    expect((await at.plan("--detailed-exitcode")).code).toBe(0);
    expect((await at.run(["drift"])).code).toBe(0);
  });
});

describe("several exit codes at once: 130, then 1 > 5 > 6 > 3 > 4 > 2 > 0", () => {
  const order: readonly ExitCode[] = [130, 1, 5, 6, 3, 4, 2, 0];
  for (const [index, code] of order.entries())
    it(`${code} wins over ${order.slice(index + 1).join(", ") || "nothing"}`, () => {
      const all = order.slice(index).map((one) => ({ code: one, reasons: [`r${one}`] }));
      expect(combineExits([...all].reverse())).toEqual({ code, reasons: all.map(({ reasons }) => reasons[0]) });
    });
});
