// A bound manifest keeps its object, and one that selects another one is blocked.
import { describe, expect, it } from "vitest";
import { blockedSteps, readySteps } from "../../support/steps.ts";
import { assetManifest, ordersManifest, scene, schemaManifest, together } from "../apply/scene.ts";

const hashes = schemaManifest("orders", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }");
const matching = (name: string, pin = ""): string =>
  `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders${pin} }\nspec: { match: { name: ${name} } }\n`;

describe("match of a bound or pinned manifest that does not select its object", () => {
  it.each([
    ["selects another one", "", "shop-shard-01", "dimsync bind Integration/orders=51a1"],
    ["selects none", "", "nothing", undefined],
    ["selects another one than the pinned id", ", id: 8f1c", "shop-shard-01", undefined],
  ])("blocks it, with both ids and the way out, and its rules are not applied: %s", async (_, pin, name, command) => {
    const at = await scene(matching("Orders", pin));
    expect((await at.apply()).code).toBe(0);
    at.write("manifests/all.yaml", together(matching(name, pin), hashes));
    const { code, plan } = await at.plan("--detailed-exitcode");
    const [own] = blockedSteps(plan).filter(({ address }) => address === "Integration/orders");
    expect([code, readySteps(plan), own?.code, own?.command]).toEqual([2, [], "E_OTHER_OBJECT", command]);
    expect(own?.message).toContain("8f1c");
    if (name !== "nothing") expect(own?.message).toContain("51a1");
    expect((await at.run(["drift"])).code).toBe(2);
    expect((await at.apply()).code).toBe(4);
    expect(at.writes()).toEqual([]);
  });

  it("binds it again as the message says", async () => {
    const at = await scene(matching("Orders"));
    await at.apply();
    at.write("manifests/all.yaml", matching("shop-shard-01"));
    expect((await at.run(["bind", "Integration/orders=51a1"])).code).toBe(0);
    expect((await at.plan("--detailed-exitcode")).code).toBe(0);
  });
});

describe("manifests that exchanged their names", () => {
  const named = (metadata: string, name: string): string =>
    assetManifest(metadata).replace(`spec: { name: ${metadata}`, `spec: { name: ${name}`);

  it.each<readonly [string, readonly (readonly [string, string])[], readonly string[]]>([
    [
      "two",
      [
        ["a", "b"],
        ["b", "a"],
        ["c", "c"],
      ],
      ["Asset/a", "Asset/b"],
    ],
    [
      "three in a ring",
      [
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
      ],
      ["Asset/a", "Asset/b", "Asset/c"],
    ],
    [
      "a chain with a new name at its end",
      [
        ["a", "b"],
        ["b", "c"],
        ["c", "d"],
      ],
      ["Asset/a", "Asset/b", "Asset/c"],
    ],
  ])("are blocked, and nothing is sent: %s", async (_, pairs, of) => {
    const at = await scene(together(...["a", "b", "c"].map((name) => assetManifest(name))));
    expect((await at.apply()).code).toBe(0);
    const before = at.writes().length;
    at.write("manifests/all.yaml", together(...pairs.map(([metadata, name]) => named(metadata, name))));
    const { plan } = await at.plan();
    const blocked = blockedSteps(plan).filter(({ code }) => code === "E_OTHER_OBJECT");
    expect(blocked.map(({ address }) => address)).toEqual(of);
    expect(blocked[0]?.message).toContain("Asset/b");
    expect((await at.apply()).code).toBe(4);
    expect(at.writes()).toHaveLength(before);
  });

  it("are not: one that only gets a new name in the service", async () => {
    const at = await scene(together(assetManifest("a"), assetManifest("b"), ordersManifest));
    expect((await at.apply()).code).toBe(0);
    at.write("manifests/all.yaml", together(named("a", "new"), assetManifest("b"), ordersManifest));
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ address: "Asset/a", verb: "update" }]);
  });
});
