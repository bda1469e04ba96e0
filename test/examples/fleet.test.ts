import { expect, test } from "vitest";
import { exampleOf, expectShown } from "./example.ts";

test("the fleet is valid, planned as its README says, applied, and then as declared", async () => {
  const { run, made } = exampleOf("fleet");
  expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("no problems found") });
  const plan = await run("plan");
  expectShown("fleet", plan.stdout);
  expect((await made("plan")).diagnostics).toEqual([]);
  expect((await run("apply", "--yes")).code).toBe(0);
  expect(await made("plan")).toMatchObject({ items: [], manual: [], policy: [], diagnostics: [] });
  expect((await run("drift")).code).toBe(0);
});

test("its policy refuses what the rules would allow, at the rule's line", async () => {
  const { made, change } = exampleOf("fleet");
  change(
    "manifests/shops.yaml",
    "[orders, customers] }\n      set: { enabled: true }",
    "[orders, customers, payments] }\n      set: { enabled: true }",
  );
  const { policy, exit } = await made("plan");
  expect(exit).toEqual({ code: 3, reasons: ["policy"] });
  expect(policy.map(({ address, path, file, line }) => `${address} ${path} ${file}:${line}`)).toEqual([
    "SchemaConfig/shops@shop-shard-01 /schemas/public/tables/payments/enabled manifests/shops.yaml:11",
    "SchemaConfig/shops@shop-shard-02 /schemas/public/tables/payments/enabled manifests/shops.yaml:11",
  ]);
});
