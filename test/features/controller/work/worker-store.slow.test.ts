import { expect, it } from "vitest";
import { accountUnderControl } from "./account-under-control.ts";

it("a run that the database refuses is logged at once, and the account fails instead of going stale", async () => {
  const { database, push, check, log } = await accountUnderControl({ every: "1h" });
  await push();
  await database.script("alter table dimsync_controller.finding add constraint refused check (kind = 'nothing') not valid");
  const account = await check();
  expect(log[0]).toMatch(/^the run could not be stored: .*refused/u);
  expect(account).toMatchObject({
    state: "failing",
    error: { code: "E_CONTROLLER_DATABASE", message: expect.stringContaining("refused") },
  });
  expect(account?.runs).toHaveLength(1);
});
