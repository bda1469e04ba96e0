// What leaves a selector by a rename in the account is drift, and stays drift.
import { describe, expect, it } from "vitest";
import type { Plan } from "../../../../src/core/base/model/plan.ts";
import { byHandSteps } from "../../../support/steps.ts";
import { type Scene, scene, together } from "../../apply/scene.ts";

const shops = (names: string): string => `
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec: { integrations: { names: ${names} }, rules: [{ id: pii, match: { column: email }, set: { hashed: true } }] }
`;
const gold = (names: string): string => `
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gold }
spec: { name: Gold, taggedBy: u-3, resources: [{ integrations: { names: ${names} } }] }
`;
const both = (names: string): string => together(shops(names), gold(names));
const glob = '["shop-shard-*"]';

/** The account has what the manifests declare for shop-shard-01 and 02. */
async function applied(): Promise<Scene> {
  const at = await scene(both(glob));
  expect((await at.apply()).code).toBe(0);
  return at;
}

const rename = (at: Scene, to: string): void =>
  at.service.mutate(
    ({ integrations }) => {
      for (const one of integrations) if (one.id === "51a1") one.name = to;
    },
    undefined,
    `Integration 51a1 "${to}" renamed`,
  );

async function drift(at: Scene) {
  const { code, stdout } = await at.run(["drift", "-o", "json", "-q"]);
  return { code, byHand: byHandSteps(JSON.parse(stdout) as Plan) };
}

/** Gives up what the rename took out of the selectors of the SchemaConfig and of the tag. */
async function resolved(at: Scene, schemas: string): Promise<void> {
  for (const address of [schemas, "Tag/gold#51a1"]) expect((await at.run(["resolve", address, "--reason", "an experiment"])).code).toBe(0);
}

const asText = (text: string): string => text.replace(/\s+/gu, " ");

describe("an integration that was renamed in the account and left a selector by name", () => {
  it("is drift of the SchemaConfig and of the tag, in plan and drift, as JSON and text", async () => {
    const at = await applied();
    rename(at, "Foo");
    const { plan } = await at.plan();
    const left = (address: string) => ({ path: "/name", expected: "shop-shard-01", actual: "Foo", obligation: true, address });
    const expected = [
      {
        ...left("Schemas/shop-shard-01"),
        manifests: ["SchemaConfig/shops"],
        command: "dimsync resolve Schemas/shop-shard-01 --reason REASON",
      },
      { ...left("Tag/gold#51a1"), manifests: ["Tag/gold"], command: "dimsync resolve 'Tag/gold#51a1' --reason REASON" },
    ];
    expect(byHandSteps(plan)).toMatchObject(expected);
    const by = { attribution: { actor: "dana@example.com" } };
    expect(await drift(at)).toMatchObject({ code: 2, byHand: expected.map((one) => ({ ...one, ...by })) });
    for (const command of ["plan", "drift"]) {
      const text = asText((await at.run([command, "--no-color", "-q"])).stdout);
      expect(text).toMatch(
        /Integration shop-shard-01 \(51a1\) was renamed Foo and left SchemaConfig\/shops: no rule keeps \d+ hashed columns? any more\. .*add "Foo" to the names of the selector\./u,
      );
      expect(text).toContain("left Tag/gold: the manifest no longer requires it to have the tag.");
    }
  });

  it("stays drift after the next apply, which sends nothing for it", async () => {
    const at = await applied();
    rename(at, "Foo");
    const before = at.writes().length;
    await at.apply();
    expect(at.writes()).toHaveLength(before);
    expect(await drift(at)).toMatchObject({ code: 2, byHand: [{}, {}] });
  });

  it.each<readonly [what: string, (at: Scene) => unknown]>([
    ["the manifests name it", (at) => at.write("manifests/all.yaml", both('["shop-shard-*", Foo]'))],
    ["it is given up by its earlier name", (at) => resolved(at, "Schemas/shop-shard-01")],
    ["it is given up by its id", (at) => resolved(at, "Schemas/51a1")],
    ["it has its earlier name again", (at) => rename(at, "shop-shard-01")],
    ["the manifests no longer select its earlier name", (at) => at.write("manifests/all.yaml", both("[shop-shard-02]"))],
  ])("stops being drift once %s", async (_what, change) => {
    const at = await applied();
    rename(at, "Foo");
    await change(at);
    expect(await drift(at)).toEqual({ code: 0, byHand: [] });
  });

  it.each<readonly [what: string, (at: Scene) => unknown]>([
    ["a name that the selector matches too", (at) => rename(at, "shop-shard-09")],
    ["no other name, but another selector", (at) => at.write("manifests/all.yaml", both("[shop-shard-02]"))],
  ])("is not reported if it has %s", async (_what, change) => {
    const at = await applied();
    await change(at);
    expect(await drift(at)).toEqual({ code: 0, byHand: [] });
  });
});
