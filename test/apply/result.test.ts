import { describe, expect, it } from "vitest";
import { scene, tagManifest } from "./scene.ts";

describe("exit codes for differences", () => {
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
