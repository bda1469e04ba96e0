// Creates that begin together are recorded with one write, before any of them is sent.
import { expect, test } from "vitest";
import { gatherIntents } from "../../../src/core/apply/waves.ts";
import { memoryStore } from "../records/shared/memory-store.ts";
import { intentOf } from "../records/suite.ts";

async function waves() {
  const store = memoryStore();
  const run = await (await store.open()).begin({ runId: "run-1", waitMs: 0 });
  const records = gatherIntents(run);
  const sent: string[] = [];
  const create = (address: string) =>
    records.during(async () => {
      // The checks of a create.
      await new Promise(setImmediate);
      const entryId = await records.intend(intentOf(address));
      run.fence();
      sent.push(address);
      await records.settle(entryId, { outcome: "created", id: address });
    });
  return { store, run, records, sent, create };
}
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `Asset/a${index}`);

test.each([
  [1, 1],
  [16, 1],
  [17, 2],
])("%i creates need %i writes before they are sent", async (count, writes) => {
  const { store, run, sent, create } = await waves();
  await Promise.all(addresses(count).map(create));
  expect([sent.length, store.subjects().length]).toEqual([count, writes]);
  await run.release();
  const { open, created } = await (await store.open()).read();
  expect([open, created.size]).toEqual([[], count]);
});

test("an update that begins at the same time waits for the first wave, which takes the lease", async () => {
  const { store, run, records, create } = await waves();
  const creating = create("Asset/a0");
  await records.take();
  run.fence();
  expect(store.subjects()).toHaveLength(1);
  await creating;
  await records.take();
  expect(store.subjects()).toHaveLength(1);
});

test("if a wave cannot be recorded, none of its creates is sent, and no update", async () => {
  const { store, records, sent, create } = await waves();
  store.fail("refused");
  const all = await Promise.allSettled([...addresses(3).map(create), records.take()]);
  expect(all.map((one) => one.status === "rejected" && one.reason.code)).toEqual(Array(4).fill("E_RECORDS_REFUSED"));
  expect(sent).toEqual([]);
});
