import { expect, test } from "vitest";
import { compareUnits } from "../../src/engine/compare.ts";
import { cachedReads } from "../../src/engine/reads/cached-reads.ts";
import { everything } from "../../src/engine/scope.ts";
import type { LiveSchemas } from "../../src/model/live.ts";
import type { Reads } from "../../src/model/service.ts";
import { column, schema, table } from "../kinds/schema-config/fleet.ts";
import { accountViewOf, liveIntegration, resourceOf } from "../support/accounts/view.ts";

// A unit's tree is in memory only during its comparison. Counts the trees that were returned and
// are not compared yet, while the columns of each must also be read (the snake_case response), when
// they could accumulate.

const shards = 60;
const concurrency = 4;

test("at most `concurrency` trees are held at a time, however many integrations there are", async () => {
  const integrations = Array.from({ length: shards }, (_, index) => liveIntegration(`id-${index}`, `shop-${index}`, `pg-${index}`));
  const config = resourceOf("SchemaConfig", "shops", {
    integrations: { names: ["shop-*"] },
    rules: [{ match: { column: "email" }, set: { hashed: true } }],
  });
  const tree = (): LiveSchemas => ({ public: schema({ a: table(undefined), b: table(undefined) }) });
  const held = new Set<string>();
  let most = 0;
  const later = <T>(value: T): Promise<T> => new Promise((done) => setImmediate(() => done(value)));
  const reads = {
    schemas: async (id: string) => {
      const live = await later(tree());
      held.add(id);
      most = Math.max(most, held.size);
      return live;
    },
    columns: () => later({ email: column() }),
  };
  const view = accountViewOf([config], { integrations });
  const compared = await compareUnits({
    observed: { account: view, problems: [], unreadLists: new Set(), suspicions: [], complete: true },
    compared: [config],
    scope: everything,
    // The comparison of schema configurations reads nothing else.
    reads: cachedReads(reads as unknown as Reads),
    onProgress: undefined,
    base: undefined,
    concurrency,
    needs: { policyColumns: () => undefined, claimColumns: () => undefined },
    *checkUnit({ unit }) {
      yield;
      held.delete(unit.liveId ?? "");
    },
    signal: new AbortController().signal,
  });
  expect(compared.found.flatMap(({ items }) => items)).toHaveLength(shards);
  expect(held.size).toBe(0);
  expect(most).toBe(concurrency);
});

/** Compares a fleet that is in memory, so that nothing waits for a read. `onUnit` is called with the number of compared units. */
async function compareInMemory(onUnit: (count: number) => void, signal = new AbortController().signal) {
  const integrations = Array.from({ length: shards }, (_, index) => liveIntegration(`id-${index}`, `shop-${index}`, `pg-${index}`));
  const config = resourceOf("SchemaConfig", "shops", { integrations: { names: ["shop-*"] }, rules: [] });
  const reads = { schemas: async (): Promise<LiveSchemas> => ({ public: schema({ a: table({ email: column() }) }) }) };
  let count = 0;
  return compareUnits({
    observed: {
      account: accountViewOf([config], { integrations }),
      ...{ problems: [], unreadLists: new Set<never>(), suspicions: [], complete: true },
    },
    compared: [config],
    scope: everything,
    reads: cachedReads(reads as unknown as Reads),
    ...{ onProgress: undefined, base: undefined, concurrency, signal },
    needs: { policyColumns: () => undefined, claimColumns: () => undefined },
    *checkUnit() {
      yield;
      count += 1;
      onUnit(count);
    },
  });
}

test("timers and signals run between units, even if nothing is read", async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const busyUntil = (end: number): void => {
    while (performance.now() < end);
  };
  await compareInMemory(() => busyUntil(performance.now() + 10));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test("after an interruption no further unit is compared", async () => {
  const stop = new AbortController();
  let compared = 0;
  const { complete } = await compareInMemory((count) => {
    compared = count;
    if (count === 10) stop.abort();
  }, stop.signal);
  expect(complete).toBe(false);
  expect(compared).toBeLessThan(10 + concurrency);
});
