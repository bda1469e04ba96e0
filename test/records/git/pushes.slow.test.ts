import { describe, expect, it } from "vitest";
import { git } from "../../support/git/remote.ts";
import { integrations } from "../project.ts";
import { machines } from "./git-project.ts";
import { ref } from "./git-store.ts";

describe("the number of pushes", () => {
  it("is none for plan, drift and an apply without changes, which read the ref at most twice", async () => {
    const { machine, store } = await machines();
    const first = machine(integrations(2));
    const ran = await first.run("apply", "--yes");
    expect(ran.code, ran.stderr + ran.stdout).toBe(0);
    const tip = store.remote.tip(ref);
    const second = machine(integrations(2));
    for (const argv of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const { code, stdout, stderr } = await second.run(...argv);
      expect(code, `${argv.join(" ")}: ${stdout}${stderr}`).toBe(0);
      const { pushes, reads } = second.counts();
      expect(pushes, argv.join(" ")).toBe(0);
      expect(reads, argv.join(" ")).toBeLessThanOrEqual(2);
    }
    expect(store.remote.tip(ref)).toBe(tip);
  });

  for (const [creates, pushes] of [
    [1, 2],
    [16, 2],
    [100, 8],
  ] as const)
    it(`is ${pushes} for ${creates} creates`, { timeout: 120_000 }, async () => {
      const { machine, creates: sent, store } = await machines();
      const one = machine(integrations(creates));
      const { code, stdout, stderr } = await one.run("apply", "--yes");
      expect(code, stdout + stderr).toBe(0);
      expect(sent()).toHaveLength(creates);
      expect(one.counts().pushes).toBe(pushes);
      expect(git(store.remote.bare, "show", `${ref}:bindings.yaml`).match(/Integration\//g)).toHaveLength(creates);
    });
});
