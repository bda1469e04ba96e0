// Adding, renaming, moving or deleting a manifest changes the address of no other object. Names of
// manifests, live names and ids are taken from one small set, so that they collide.

import { expect, test } from "vitest";
import { type Address, integrationOfSchemas } from "../../src/core/base/model/address.ts";
import type { Manifest, SchemaConfigSpec } from "../../src/core/base/model/manifest.ts";
import { stepsOf } from "../../src/core/base/model/plan.ts";
import { schemaConfig } from "../../src/core/kinds/schema-config/index.ts";
import { schemasOf } from "../../src/core/kinds/select.ts";
import { accountViewOf, liveIntegration, resourceOf } from "../support/accounts/view.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";

const names = ["orders", "shops", "a", "b", "8f1c"];
const name = fc.constantFrom(...names);
const liveName = fc.constantFrom(...names, "Integration/orders", "", "x#y");
const labels = fc.constantFrom({}, { domain: "sales" });

const live = fc.uniqueArray(fc.record({ id: fc.constantFrom("8f1c", "b27d", "51a1", "a", "orders"), name: liveName }), {
  minLength: 1,
  selector: ({ id }) => id,
});

/** An integration that is pinned, looked up by its live name, or still to be created; or a SchemaConfig. */
const integration = fc
  .record({ name, labels, how: fc.constantFrom("8f1c", "b27d", "51a1", "look-up", "create") })
  .map(({ name: own, labels: of, how }): Manifest => {
    const pin = how === "look-up" || how === "create" ? {} : { id: how };
    const create = {
      ...{ destinationSchema: own, enabled: false },
      sourceConfig: { name: `source-${own}`, type: "postgres" },
    };
    const spec = how === "create" ? { destination: { id: "d-12" }, create } : how === "look-up" ? { match: { name: own } } : {};
    return resourceOf("Integration", own, spec, { ...pin, labels: of });
  });
const selector = fc.oneof(
  fc.record({ integration: name }),
  fc.record({ integration: fc.record({ id: fc.constantFrom("8f1c", "b27d", "51a1") }) }),
  fc.constantFrom({ integrations: { names: ["*"] } }, { integrations: { labels: { domain: "sales" } } }),
);
const config = fc
  .record({ name, selector, priority: fc.nat(50) })
  .map(({ name: own, selector: selects, priority }): Manifest => resourceOf("SchemaConfig", own, { ...selects, priority, rules: [] }));

const manifests = fc.uniqueArray(fc.oneof(integration, config), { maxLength: 6, selector: ({ address }) => address });

interface World {
  readonly live: readonly { readonly id: string; readonly name: string }[];
  readonly manifests: readonly Manifest[];
}

interface Addresses {
  /** Of the schemas of each live integration, by id. */
  readonly live: ReadonlyMap<string, Address>;
  /** Of those of integrations that do not exist yet, by manifest. */
  readonly waiting: ReadonlyMap<Address, Address>;
  /** The manifest of each live integration. */
  readonly owners: ReadonlyMap<string, Address>;
  /** Undefined if two manifests identify one integration: that is an error, and nothing is compared. */
  readonly isValid: boolean;
}

function addressesIn({ live: found, manifests }: World): Addresses {
  const account = accountViewOf(manifests, { integrations: found.map((one) => liveIntegration(one.id, one.name, `source ${one.id}`)) });
  const configs = manifests.filter(({ kind }) => kind === "SchemaConfig") as readonly Manifest<SchemaConfigSpec>[];
  const schemas = new Map(found.map(({ id }) => [id, schemasOf({ state: "found", id, name: id }, account)]));
  const { units, steps } = schemaConfig.units(configs, account);
  for (const { liveId, address } of units) if (schemas.has(liveId)) expect(address).toBe(schemas.get(liveId));
  const missing = manifests.filter(({ address }) => account.identities.get(address)?.state === "absent");
  const waiting = new Map(missing.map(({ address, name }) => [address, schemasOf({ state: "waits", on: address, name }, account)]));
  for (const { address, waitsFor: [manifest = ""] = [] } of stepsOf({ steps }, "waits")) expect(address).toBe(waiting.get(manifest));
  const identified = [...account.identities].flatMap(([address, identity]) =>
    identity.state === "found" ? [[identity.id, address] as const] : [],
  );
  return {
    live: schemas,
    waiting,
    owners: new Map(identified),
    isValid: new Set(identified.map(([id]) => id)).size === identified.length,
  };
}

const edit = fc.oneof(
  fc.record({ type: fc.constant("add" as const), manifest: fc.oneof(integration, config) }),
  fc.record({ type: fc.constant("delete" as const), index: fc.nat(5) }),
  fc.record({ type: fc.constant("rename" as const), index: fc.nat(5), name }),
  fc.record({ type: fc.constant("move" as const), index: fc.nat(5) }),
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** The manifests after the edit, and those that it is about, before and after it. Undefined: it cannot be made. */
function edited(
  manifests: readonly Manifest[],
  change: Edit,
): { readonly after: readonly Manifest[]; readonly changed: readonly Address[] } | undefined {
  if (change.type === "add") {
    if (manifests.some(({ address }) => address === change.manifest.address)) return undefined;
    return { after: [change.manifest, ...manifests], changed: [change.manifest.address] };
  }
  const one = manifests[change.index];
  if (one === undefined) return undefined;
  const others = manifests.filter((other) => other !== one);
  if (change.type === "delete") return { after: others, changed: [one.address] };
  if (change.type === "move") return { after: [...others, { ...one, place: { ...one.place, file: "z.yaml" } }], changed: [] };
  const renamed = resourceOf(one.kind, change.name, one.spec, { id: one.id, labels: one.labels });
  if (others.some(({ address }) => address === renamed.address)) return undefined;
  return { after: [...others, renamed], changed: [one.address, renamed.address] };
}

test("no edit of one manifest changes the address of another object, and no two objects share one", () => {
  fc.assert(
    fc.property(live, manifests, edit, (integrations, manifests, change) => {
      const result = edited(manifests, change);
      fc.pre(result !== undefined);
      const before = addressesIn({ live: integrations, manifests });
      const after = addressesIn({ live: integrations, manifests: result.after });
      fc.pre(before.isValid && after.isValid);
      for (const { live: byId, waiting } of [before, after]) {
        const all = [...byId.values(), ...waiting.values()];
        expect(new Set(all).size, all.join(", ")).toBe(all.length);
        expect(all.every((address) => integrationOfSchemas(address) !== undefined)).toBe(true);
      }
      const isOwn = (id: string): boolean =>
        [before, after].some(({ owners }) => result.changed.includes(owners.get(id) ?? "")) ||
        // A look-up by name can find another integration once there are two manifests for it.
        before.owners.get(id) !== after.owners.get(id);
      for (const [id, address] of before.live) if (!isOwn(id)) expect(after.live.get(id), id).toBe(address);
      for (const [manifest, address] of before.waiting)
        if (!result.changed.includes(manifest)) expect(after.waiting.get(manifest), manifest).toBe(address);
    }),
    { numRuns: runs(100, 20_000) },
  );
});
