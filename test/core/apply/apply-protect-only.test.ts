// --protect-only sends what protects and nothing else, and says what it holds.
import { describe, expect, it } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { guardFindings } from "../../../src/core/base/model/findings.ts";
import { heldSteps, outcomes, readySteps } from "../../support/steps.ts";
import { assetManifest, endings, integrationManifest, ordersManifest, scene, schemaManifest, tagManifest, together } from "./scene.ts";

/** One change that protects and one that exposes, in the same table; a tag, and a chain of creates. */
const mixed = together(
  ordersManifest,
  schemaManifest(
    "orders",
    "{ public: { tables: { payments: { columns: { iban: { hashed: false } } }, customers: { columns: { email: { hashed: true }, phone: { hashed: true } } } } } }",
  ),
  tagManifest("the best"),
  assetManifest(),
  integrationManifest("returns", { destination: "{ asset: archive }" }),
);
const exposing = together(
  ordersManifest,
  schemaManifest("orders", "{ public: { tables: { payments: { columns: { iban: { hashed: false } } } } } }"),
);

describe("--protect-only", () => {
  it("sends what protects, reports the rest as held with exit 4, and plan without the flag shows the same rest", async () => {
    const at = await scene(mixed);
    const full = await at.plan();
    const planned = await at.plan("--protect-only", "--detailed-exitcode");
    expect(planned.code).toBe(2);
    expect(readySteps(planned.plan).map(({ verb, address }) => `${verb} ${address}`)).toEqual([
      "bind Integration/orders",
      "update Schemas/orders",
      "bind Tag/gold",
    ]);
    const held = ["Asset/archive", "Integration/returns", "Schemas/orders", "Tag/gold"];
    expect(
      heldSteps(planned.plan)
        ?.map(({ address }) => address)
        .sort(),
    ).toEqual(held);
    expect(planned.plan.counts).toMatchObject({ protects: 2, exposes: 0, create: 0 });
    expect(planned.plan.calls.planned).toEqual({ PATCH: 1 });

    const { code, result } = await at.apply("--protect-only");
    expect([code, result.exit.reasons]).toEqual([4, ["held"]]);
    expect(endings(result)).toEqual({
      "bind Integration/orders": "done",
      "bind Tag/gold": "done",
      "update Schemas/orders": "done",
    });
    expect(
      heldSteps(result)
        ?.map(({ address }) => address)
        .sort(),
    ).toEqual(held);
    expect(at.writes()).toEqual(["PATCH /v1/integrations/8f1c/schemas"]);

    const again = await at.apply("--protect-only");
    expect([again.code, outcomes(again.result), at.writes().length]).toEqual([4, [], 1]);
    const rest = (await at.plan()).plan;
    expect(readySteps(rest).flatMap((item) => [...eachChange(item)].map(({ path }) => path))).toEqual(
      readySteps(full.plan).flatMap((item) =>
        item.verb === "bind" ? [] : [...eachChange(item)].filter(({ risk }) => risk !== "protects").map(({ path }) => path),
      ),
    );
    expect((await at.apply()).code).toBe(0);
    expect((await at.apply("--protect-only")).code).toBe(0);
  });

  it("is not stopped by guards about exposure, and only sends nothing", async () => {
    const at = await scene(exposing, { config: { guards: { maxExposedColumns: 0, maxCreates: 0 } } });
    expect((await at.plan()).code).toBe(3);
    const planned = await at.plan("--protect-only");
    expect([planned.code, guardFindings(planned.plan), planned.plan.executable]).toEqual([0, [], true]);
    const { code, result } = await at.apply("--protect-only");
    expect([code, outcomes(result).map(({ verb }) => verb), at.writes()]).toEqual([4, ["bind"], []]);
  });

  it("is kept in a saved plan, which apply executes without the flag", async () => {
    const at = await scene(mixed);
    expect((await at.run(["plan", "--protect-only", "--out", "plan.json"])).code).toBe(0);
    const shown = await at.run(["show", "plan.json"]);
    expect(shown.stdout).toContain("Held");
    const { code, result } = await at.apply("plan.json");
    expect([code, heldSteps(result)?.length, at.writes()]).toEqual([4, 4, ["PATCH /v1/integrations/8f1c/schemas"]]);
  });

  it("is refused for a saved plan that was made without it", async () => {
    const at = await scene(exposing);
    expect((await at.run(["plan", "--out", "plan.json"])).code).toBe(0);
    const refused = await at.run(["apply", "plan.json", "--protect-only"]);
    expect([refused.code, refused.stderr.includes("dimsync plan --protect-only --out plan.json"), at.writes()]).toEqual([1, true, []]);
  });
});
