// A create whose response was lost is found by its natural key, or stays open.
import { expect, test } from "vitest";
import type { Bindings } from "../../../src/core/base/model/address.ts";
import type { LiveIntegration } from "../../../src/core/base/model/live.ts";
import type { Reads } from "../../../src/core/base/model/service.ts";
import { findCreated } from "../../../src/core/plan/recover.ts";

// A POST was sent for Integration/orders, and its response was lost.
const source = { name: "orders-pg", type: "postgres" };
const intent = {
  address: "Integration/orders",
  kind: "Integration",
  naturalKey: { sourceName: source.name, sourceType: source.type, destinationId: "d-1" },
} as const;

const integration = (id: string, of = source): LiveIntegration =>
  ({ id, name: "Orders", paused: false, source: of, destination: { id: "d-1", name: "warehouse", type: "snowflake" } }) as LiveIntegration;

/** An account with these integrations. */
const account = (items: readonly LiveIntegration[]): Reads =>
  ({ list: async () => ({ items, completeness: "shown" }) }) as unknown as Reads;

const other = integration("i-9", { name: "billing-pg", type: "postgres" });

test.each<readonly [string, readonly LiveIntegration[], Readonly<Record<string, string>>, readonly string[], string | undefined]>([
  ["the only integration with its natural key", [integration("i-1"), other], {}, [], "i-1"],
  ["none, if no integration has its natural key", [other], {}, [], undefined],
  ["none of two with its natural key", [integration("i-1"), integration("i-2")], {}, [], undefined],
  ["of two, the one whose id the response named", [integration("i-1"), integration("i-2")], {}, ["i-2"], "i-2"],
  ["of two, the one that no other address is bound to", [integration("i-1"), integration("i-2")], { "Integration/old": "i-1" }, [], "i-2"],
  ["not an integration that another address is bound to", [integration("i-1")], { "Integration/old": "i-1" }, [], undefined],
  ["not even if the response named it", [integration("i-1")], { "Integration/old": "i-1" }, ["i-1"], undefined],
])("a create made %s", async (_, items, bound, named, expected) => {
  const bindings: Bindings = new Map(Object.entries(bound).map(([address, id]) => [address, { id }] as const)) as Bindings;
  const found = await findCreated(intent, account(items), { bindings, named });
  expect(found.id).toBe(expected);
  expect(found.isCreated).toBe(expected !== undefined);
});
