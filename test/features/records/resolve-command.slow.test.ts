import { describe, expect, it } from "vitest";
import { machines } from "../../core/records/git/git-project.ts";
import { begun } from "../../core/records/git/git-store.ts";
import { integrations } from "../../core/records/project.ts";
import { intentOf } from "../../core/records/suite.ts";

/**
 * A machine, and a run on another one that stored two intents and whose lease a user then ended.
 */
async function unlocked() {
  const { machine, store } = await machines();
  const one = machine(integrations(1), { ttl: "60s" });
  const run = await begun(store.open(), "run-1");
  await run.intend([intentOf("Integration/i0"), intentOf("Asset/b", { kind: "Asset" })]);
  expect(await store.open().unlock()).toMatchObject({ runId: "run-1" });
  const open = async () => (await store.open().read()).open.map(({ address }) => address);
  return { one, open };
}

describe("resolve --not-created, after the run was unlocked", () => {
  it("is refused while a frozen process may still send", async () => {
    const { one, open } = await unlocked();
    for (const argv of [
      ["Integration/i0", "--not-created"],
      ["--run", "run-1", "--not-created"],
    ]) {
      const { code, stderr } = await one.run("resolve", ...argv);
      expect([code, stderr.includes("E_RUN_MAY_SEND")]).toEqual([6, true]);
    }
    expect(await open()).toEqual(["Integration/i0", "Asset/b"]);
  });

  it("is possible with --force and a reason, for all creates of the run at once", async () => {
    const { one, open } = await unlocked();
    expect((await one.run("resolve", "--run", "run-1", "--not-created", "--force")).code).toBe(1);
    const { code, stderr } = await one.run("resolve", "--run", "run-1", "--not-created", "--force", "--reason", "its machine is gone");
    expect([code, stderr]).toEqual([
      0,
      "dimsync: Integration/i0 was not created; the next apply may create it.\ndimsync: Asset/b was not created; the next apply may create it.\n",
    ]);
    expect(await open()).toEqual([]);
    const { stdout } = await one.run("records", "show", "-o", "json");
    expect(JSON.parse(stdout).open).toEqual([]);
  });

  it("does not refuse --created, because the object was found", async () => {
    const { one, open } = await unlocked();
    const { code } = await one.run("resolve", "Integration/i0", "--created", "8f1c");
    expect(code).toBe(0);
    expect(await open()).toEqual(["Asset/b"]);
  });
});

it("names the runs that left something open if another one is given", async () => {
  const { one } = await unlocked();
  const { code, stderr } = await one.run("resolve", "--run", "run-2", "--not-created");
  expect(code).toBe(1);
  expect(stderr).toContain("E_UNKNOWN_RUN");
  expect(stderr).toContain("run-1");
});

it("needs an address or a run, and what to record", async () => {
  const { one } = await unlocked();
  for (const argv of [
    [],
    ["Integration/i0"],
    ["Integration/i0", "--run", "run-1", "--not-created"],
    ["--run", "run-1", "--created", "x"],
  ]) {
    const { code, stderr } = await one.run("resolve", ...argv);
    expect([argv, code, stderr.includes("E_USAGE")]).toEqual([argv, 1, true]);
  }
});
