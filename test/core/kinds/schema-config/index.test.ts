// What concerns all integrations of a SchemaConfig is reported once.

import { expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import { draftItems } from "../../../../src/core/base/model/plan.ts";
import { compare } from "../../../../src/core/plan/compare.ts";
import { comparingRun } from "../../../support/accounts/view.ts";
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
  const { differences } = await compare({
    run: comparingRun(readsOf({ schemas: async (id) => ({ tree: live[id] ?? {} }) })),
    account: accountViewOf([manifest], ["a", "b"]),
    reviewed: undefined,
    checks: [],
  });
  expect(differences.flatMap(({ problems }) => problems.map(({ code, place }) => `${code} ${place?.pointer}`))).toEqual([
    "W_NO_MATCH /spec/rules/1/match/table",
  ]);
  expect(differences.flatMap(draftItems).map(({ address }) => address)).toEqual(["Schemas/b"]);
});
