import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/core/model/json/json.ts";
import { endings, type Meddle, ordersManifest, scene, schemaManifest, tagManifest, together } from "./scene.ts";

// What the service answers beside the forms of the interface document, and what a run makes of it.

const hashesEmail = together(
  ordersManifest,
  schemaManifest("orders", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }"),
);
const orders = "update Schemas/orders";

type Tree = Readonly<Record<string, unknown>>;

/** Every map with these keys, at any depth, without them. */
function without(value: unknown, isLeftOut: (key: string, map: Tree) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, isLeftOut));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (isLeftOut(key, value) ? [] : [[key, without(member, isLeftOut)]])),
  );
}

const ofSchemas =
  (isLeftOut: (key: string, map: Tree) => boolean): Meddle =>
  ({ path }, answer) =>
    path.endsWith("/schemas") ? without(answer, isLeftOut) : undefined;

describe("members that the service leaves out", () => {
  it("of schema entries are not made up and not sent", async () => {
    const at = await scene(hashesEmail, { meddle: ofSchemas((key, map) => key === "enabled" && "tables" in map) });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([0, "done"]);
    expect((await at.plan("--detailed-exitcode")).code).toBe(0);
  });

  it("of columns that must be hashed: sent once, then unverifiable", async () => {
    const at = await scene(hashesEmail, { meddle: ofSchemas((key) => key === "hashed") });
    const first = await at.apply();
    expect([first.code, endings(first.result)[orders]]).toEqual([0, "done"]);
    const { plan } = await at.plan();
    expect(plan.items).toEqual([]);
    expect(plan.unverifiable).toContainEqual({
      address: "Schemas/orders",
      paths: ["/schemas/public/tables/customers/columns/email/hashed"],
      reason: "the service does not show the value",
    });
  });

  it("of schemas that must be disabled: sent once with --protect-only, too", async () => {
    const tree =
      "{ public: { enabled: false, tables: { customers: { columns: { email: { hashed: true }, phone: { hashed: false } } } } } }";
    const at = await scene(together(ordersManifest, schemaManifest("orders", tree)), { service: { observed: true } });
    at.service.mutate(({ integrations: [first] }) =>
      Object.assign(first?.schemas["public"]?.tables["customers"]?.columns["phone"] ?? {}, { hashed: true }),
    );
    expect(endings((await at.apply("--protect-only")).result)[orders]).toBe("done");
    expect((await at.plan("--protect-only")).plan.items).toEqual([]);
    expect((await at.apply()).code).toBe(0);
    expect(at.writes()).toHaveLength(2);
  });

  it("of tags whose description is empty: nothing to send, and a description can be cleared", async () => {
    const at = await scene(tagManifest("''"), { service: { observed: true } });
    at.service.mutate(({ tags }) => Object.assign(tags.find(({ name }) => name === "Gold") ?? {}, { description: "old" }));
    expect((await at.apply()).code).toBe(0);
    expect((await at.plan("--detailed-exitcode")).code).toBe(0);
    expect(at.writes()).toHaveLength(1);
  });

  it("of columns that must not be hashed: never sent", async () => {
    const manifest = hashesEmail.replace("hashed: true", "hashed: false");
    const at = await scene(manifest, { meddle: ofSchemas((key) => key === "hashed") });
    const { code, plan } = await at.plan("--detailed-exitcode");
    expect([code, plan.items.filter(({ action }) => action === "update"), plan.unverifiable.map(({ paths }) => paths)]).toEqual([
      0,
      [],
      [["/schemas/public/tables/customers/columns/email/hashed"]],
    ]);
  });
});
