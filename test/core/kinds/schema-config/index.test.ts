import { expect, test } from "vitest";
import { compareUnits } from "../../../../src/core/engine/compare.ts";
import { cachedReads } from "../../../../src/core/engine/reads/cached-reads.ts";
import { everything } from "../../../../src/core/engine/scope.ts";
import type { LiveSchemas } from "../../../../src/core/model/live.ts";
import { accountViewOf, column, config, readsOf, schema, shop, table } from "./fleet.ts";

test("the engine reports conclusions over all integrations once, after the last", async () => {
  const live: Readonly<Record<string, LiveSchemas>> = { a: shop(), b: { s: schema({ t: table({ c: column() }) }) } };
  const manifest = config({
    integrations: { names: ["?"] },
    rules: [
      { match: { table: "order*" }, set: { enabled: true } },
      { match: { table: "tmp_*" }, set: { enabled: true } },
      { match: { column: "c" }, set: { hashed: true }, minMatches: 1 },
    ],
    missing: "ignore",
  });
  const reads = cachedReads(readsOf({ schemas: async (id) => ({ tree: live[id] ?? {} }) }));
  const observed = {
    account: accountViewOf([manifest], ["a", "b"]),
    problems: [],
    unreadLists: new Set<never>(),
    entries: new Map(),
    suspicions: [],
    complete: true,
  };
  const { found } = await compareUnits({
    observed,
    compared: [manifest],
    scope: everything,
    reads,
    onProgress: undefined,
    base: undefined,
    concurrency: 8,
    needs: { policyColumns: () => undefined, claimColumns: () => undefined, isNew: () => false },
    *checkUnit() {},
    signal: new AbortController().signal,
  });
  expect(found.flatMap(({ problems }) => problems.map(({ code, place }) => `${code} ${place?.pointer}`))).toEqual([
    "W_NO_MATCH /spec/rules/1/match/table",
  ]);
  expect(found.flatMap(({ items }) => items.map(({ address }) => address))).toEqual(["Schemas/b"]);
});
