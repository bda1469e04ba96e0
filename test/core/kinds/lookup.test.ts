// Looking up all objects is linear work.
import { expect, test } from "vitest";
import type { LiveIntegration } from "../../../src/core/base/model/live.ts";
import type { Manifest } from "../../../src/core/base/model/manifest.ts";
import { accountViewOf, foundIn, liveIntegration, liveTag, resourceOf } from "../../support/accounts/view.ts";

/** The object, with every read of `name`, `id` and `address` counted: searches cannot do without them. */
function counting<T extends object>(object: T, count: () => void): T {
  return new Proxy(object, {
    get(target, key) {
      if (key === "name" || key === "id" || key === "address") count();
      return Reflect.get(target, key);
    },
  });
}

/** How often names, ids and addresses are read while everything is identified and compared. */
function readsFor(size: number, manifestsOf: (names: readonly string[]) => readonly Manifest[]): number {
  let reads = 0;
  const count = () => {
    reads += 1;
  };
  const names = Array.from({ length: size }, (_, i) => `shop-${i}`);
  const integrations: readonly LiveIntegration[] = names.map((name, i) => counting(liveIntegration(`id-${i}`, name, `${name}-pg`), count));
  const manifests = manifestsOf(names).map((manifest) => counting(manifest, count));
  const view = accountViewOf(manifests, { integrations, tags: names.map((name, i) => counting(liveTag(`t-${i}`, name), count)) });
  for (const kind of ["Integration", "Tag"]) foundIn(view, kind);
  return reads;
}

const byName = (name: string) => resourceOf("Integration", name, { match: { name } });
const bySource = (name: string) => {
  const sourceConfig = { name: `${name}-pg`, type: "postgres", connection: {} };
  return resourceOf("Integration", name, { destination: { id: "d-12" }, create: { sourceConfig } });
};
const tagOn = (name: string) => resourceOf("Tag", name, { name, resources: [{ integration: name }] });

const projects: Readonly<Record<string, (names: readonly string[]) => readonly Manifest[]>> = {
  "integrations that are looked up by name": (names) => names.map(byName),
  "integrations that are looked up by source": (names) => names.map(bySource),
  "tags on integrations that have no manifest": (names) => names.map(tagOn),
  "tags on integrations that have one": (names) => [...names.map(byName), ...names.map(tagOn)],
  "one tag on all integrations": (names) => [
    ...names.map(byName),
    resourceOf("Tag", "shop-0", { name: "shop-0", resources: names.map((integration) => ({ integration })) }),
  ],
};

test.each(Object.entries(projects))("%s: the work grows with their number, not with its square", (_sentence, manifestsOf) => {
  // Sorting adds a little to 8 times the reads; a search per object would make it 64 times.
  expect(readsFor(400, manifestsOf) / readsFor(50, manifestsOf)).toBeLessThan(16);
});
