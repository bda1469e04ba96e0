// A person says what became of a create, and never while a process may still send it.
import { describe, expect, it } from "vitest";
import { machines } from "../../core/records/git/git-project.ts";
import { begun } from "../../core/records/git/git-store.ts";
import { integrations } from "../../core/records/project.ts";
import { intentOf } from "../../core/records/suite.ts";
import { letGracePass } from "../../support/records.ts";

/**
 * A machine, and a run on another one that stored two intents and whose lease a user then ended.
 */
async function unlocked() {
  const { machine, store } = await machines();
  const one = machine(integrations(1));
  const run = await begun(store.open(), "run-1");
  await run.intend([intentOf("Integration/i0"), intentOf("Asset/b", { kind: "Asset" })]);
  expect(await store.open().unlock()).toMatchObject({ runId: "run-1" });
  const open = async () => (await store.open().read()).open.map(({ address }) => address);
  return { one, store, open };
}

describe("resolve --not-created, after the run was unlocked", () => {
  it("is refused while a frozen process may still send, and possible afterwards", async () => {
    const { one, store, open } = await unlocked();
    const resolve = () => one.run("resolve", "Integration/i0", "--not-created");
    expect(await resolve()).toMatchObject({ code: 6, stderr: expect.stringContaining("E_LOCKED") });
    expect(await open()).toEqual(["Integration/i0", "Asset/b"]);
    await letGracePass(store.open());
    expect(await resolve()).toMatchObject({
      code: 0,
      stderr: "dimsync: Integration/i0 was not created; the next apply may create it.\n",
    });
    expect(await open()).toEqual(["Asset/b"]);
  });

  it("does not refuse --created, because the object was found", async () => {
    const { one, open } = await unlocked();
    const { code } = await one.run("resolve", "Integration/i0", "--created", "8f1c");
    expect(code).toBe(0);
    expect(await open()).toEqual(["Asset/b"]);
  });
});

it("needs what to record", async () => {
  const { one } = await unlocked();
  for (const argv of [["Integration/i0"], ["Integration/i0", "--not-created", "--created", "8f1c"]])
    expect(await one.run("resolve", ...argv)).toMatchObject({ code: 1, stderr: expect.stringContaining("E_USAGE") });
});
