// A unit's tree is in memory only during its comparison. Counts the trees that were returned and
// are not compared yet, while the columns of each must also be read (the snake_case response), when
// they could accumulate.

import { expect, test } from "vitest";
import { draftItems } from "../../../src/core/base/model/plan.ts";
import type { SchemasRead } from "../../../src/core/base/model/service.ts";
import { compare } from "../../../src/core/plan/compare.ts";
import { accountViewOf, comparingRun, liveIntegration, resourceOf } from "../../support/accounts/view.ts";
import { column, schema, table } from "../kinds/schema-config/fleet.ts";

const shards = 60;
const concurrency = 4;

interface Fleet {
  readonly rules?: readonly object[];
  /** Of the service, for the id of an integration. */
  readonly reads?: object;
  /** Called with the id of each compared integration. */
  readonly onUnit?: (liveId: string) => void;
  readonly signal?: AbortSignal;
}

const inMemory = { schemas: async (): Promise<SchemasRead> => ({ tree: { public: schema({ a: table({ email: column() }) }) } }) };

/** Compares a fleet of `shards` integrations. */
async function compareFleet({ rules = [], reads = inMemory, onUnit, signal = new AbortController().signal }: Fleet) {
  const integrations = Array.from({ length: shards }, (_, index) => liveIntegration(`id-${index}`, `shop-${index}`, `pg-${index}`));
  const config = resourceOf("SchemaConfig", "shops", { integrations: { names: ["shop-*"] }, rules });
  return compare({
    run: comparingRun(reads, { concurrency, signal }),
    account: accountViewOf([config], { integrations }),
    reviewed: undefined,
    checks: [{ pair: ({ unit }) => onUnit?.(unit.liveId ?? "") }],
  });
}

const hashEmail = { match: { column: "email" }, set: { hashed: true } };

test("at most `concurrency` trees are held at a time, however many integrations there are", async () => {
  const tree = (): SchemasRead => ({ tree: { public: schema({ a: table(undefined), b: table(undefined) }) } });
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
  const compared = await compareFleet({ rules: [hashEmail], reads, onUnit: (liveId) => held.delete(liveId) });
  expect(compared.differences.flatMap(draftItems)).toHaveLength(shards);
  expect(held.size).toBe(0);
  expect(most).toBe(concurrency);
});

test("equal changes and bodies of a fleet are held once", async () => {
  const { differences } = await compareFleet({ rules: [hashEmail] });
  const items = differences.flatMap(draftItems);
  expect([items.length, new Set(items.map(({ liveId }) => liveId)).size]).toEqual([shards, shards]);
  expect(new Set(items.map(({ changes }) => changes)).size).toBe(1);
  expect(new Set(items.flatMap(({ requests }) => requests.map(({ body }) => body))).size).toBe(1);
});

test("different ones are not shared", async () => {
  const other = {
    schemas: async (id: string) => ({ tree: { public: schema({ a: table({ email: column({ enabled: id !== "id-7" }) }) }) } }),
  };
  const { differences } = await compareFleet({ rules: [hashEmail, { match: { column: "*" }, set: { enabled: true } }], reads: other });
  const items = differences.flatMap(draftItems);
  const [seventh, ...others] = [...items].sort((a, b) => Number(b.liveId === "id-7") - Number(a.liveId === "id-7"));
  expect(seventh?.changes.map((change) => "field" in change && change.field)).toEqual(["enabled", "hashed"]);
  for (const { changes } of others) expect(changes.map((change) => "field" in change && change.field)).toEqual(["hashed"]);
});

test("timers and signals run between units, even if nothing is read", async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const busyUntil = (end: number): void => {
    while (performance.now() < end);
  };
  await compareFleet({ onUnit: () => busyUntil(performance.now() + 10) });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test("after an interruption no further unit is compared", async () => {
  const stop = new AbortController();
  let compared = 0;
  const onUnit = (): void => {
    compared++;
    if (compared === 10) stop.abort();
  };
  const { complete } = await compareFleet({ onUnit, signal: stop.signal });
  expect(complete).toBe(false);
  expect(compared).toBeLessThan(10 + concurrency);
});
