// One base URL in the environment never stands for several accounts.
import { expect, test } from "vitest";
import { runValidate } from "../../src/features/validate/command.ts";
import { openAccountProject } from "../support/accounts/project.ts";

test("DIMSYNC_BASE_URL with several targets is refused", async () => {
  const project = await openAccountProject();
  try {
    const env = { DIMSYNC_BASE_URL: "https://api.example.com" };
    const { code, err } = await project.run(runValidate, { target: ["prod", "test"] }, [], env);
    expect([code, err]).toEqual([1, expect.stringMatching(/overrides the base URL of each of the 2 targets/u)]);
    expect((await project.run(runValidate, { target: ["prod"] }, [], env)).err).not.toContain("overrides");
  } finally {
    await project.close();
  }
});
