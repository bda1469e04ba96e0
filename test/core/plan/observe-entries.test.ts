// An object that one read does not show is not gone because of it.

import { describe, expect, it } from "vitest";
import { diagnosticsOf } from "../../support/findings.ts";
import { blockedSteps, byHandSteps, readySteps } from "../../support/steps.ts";
import { endings, instead, integrationManifest, type Meddle, scene } from "../apply/scene.ts";

const shops = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec: { integrations: { names: ["shop-shard-*"] }, rules: [{ id: pii, match: { column: email }, set: { hashed: true } }] }
`;
const id = "51a1";

type Entry = Record<string, unknown>;
type Edit = (entry: Entry) => unknown;

/** Changes the entry of shop-shard-01 in the list, and in GET of it, if `one` is given: undefined there makes it 404. */
function odd(list: Edit, one?: Edit | "gone"): { readonly meddle: Meddle; readonly start: () => void } {
  let isOdd = false;
  const edited = (edit: Edit, answer: unknown, at: (data: { items: Entry[]; integration: Entry }) => Entry | undefined): unknown => {
    const changed = structuredClone(answer) as { readonly data: { items: Entry[]; integration: Entry } }; // of the embedded service
    const entry = at(changed.data);
    if (entry !== undefined) edit(entry);
    return changed;
  };
  const meddle: Meddle = ({ method, path }, answer) => {
    if (!isOdd || method !== "GET") return undefined;
    if (path === "/v1/integrations") return edited(list, answer, ({ items }) => items.find((item) => item["id"] === id));
    if (path !== `/v1/integrations/${id}` || one === undefined) return undefined;
    if (one === "gone") return instead(404, { code: "NotFound_Integration", message: "integration not found" });
    return edited(one, answer, ({ integration }) => integration);
  };
  return {
    meddle,
    start: () => {
      isOdd = true;
    },
  };
}

const member =
  (name: string, value: unknown): Edit =>
  (entry) =>
    Object.assign(entry, { [name]: value });

/** shop-shard-01 is covered, then unhashed by hand while its entry is odd. */
async function covered({ meddle, start }: ReturnType<typeof odd>) {
  const at = await scene(shops, { meddle });
  expect((await at.apply()).code).toBe(0);
  at.service.mutate(({ integrations }) => {
    for (const one of integrations)
      for (const schema of Object.values(one.id === id ? one.schemas : {}))
        for (const { columns } of Object.values(schema.tables)) if (columns?.["email"] !== undefined) columns["email"].hashed = false;
  });
  start();
  return at;
}

describe("an entry of the list with an odd member is compared all the same", () => {
  it.each<readonly [string, Edit]>([
    ["createdAt that is a number", member("createdAt", 1767600000)],
    ["paused that is a text", member("paused", "no")],
    ["a frequency that is a number", member("replicationFrequency", 60)],
    ["a source that is a text", member("source", "postgres")],
    ["a source that has only a type", member("source", { type: "postgres" })],
    ["a destination without an id", member("destination", { name: "Warehouse" })],
    ["a name that is a number, if GET of it has the name", member("name", 1)],
    ["an id that cannot be read, if GET of it has the name", member("id", 1.5)],
  ])("%s", async (_, edit) => {
    const at = await covered(odd(edit));
    expect(endings((await at.apply()).result)).toMatchObject({ "update Schemas/shop-shard-01": "done" });
  });
});

describe("an entry that an earlier run covered and this one cannot read", () => {
  it.each<readonly [string, Edit, Edit | "gone"]>([
    ["its name", member("name", 1), member("name", 1)],
    ["its id, and GET of the old one returns 404", member("id", 1.5), "gone"],
  ])("makes plan and drift end with exit 1, and apply with 4: %s", async (_, list, one) => {
    const at = await covered(odd(list, one));
    const { code, plan } = await at.plan();
    expect([code, plan.complete]).toEqual([1, false]);
    expect(diagnosticsOf(plan)).toContainEqual(expect.objectContaining({ code: "E_READ_FAILED", message: expect.stringContaining(id) }));
    expect((await at.run(["drift"])).code).toBe(1);
    expect((await at.apply()).code).toBe(4);
  });
});

describe("an entry of which the service shows a part", () => {
  const draft = (more: Entry): Entry => ({ id: "d1", name: "New integration", createdAt: null, ...more });
  const withEntry = (entry: Entry | null, manifests = integrationManifest("crm")) =>
    scene(manifests, {
      meddle: ({ method, path }, answer) => {
        if (method !== "GET" || path !== "/v1/integrations") return undefined;
        const { data, ...rest } = structuredClone(answer) as { readonly data: { items: Entry[] } }; // of the embedded service
        return { ...rest, data: { ...data, items: [entry, ...data.items] } };
      },
    });

  it.each<readonly [string, Entry]>([
    ["a source of another type", draft({ source: { type: "shopify" } })],
    ["a source of the same type, and another name", draft({ source: { type: "postgres" } })],
    ["no source", draft({ source: null })],
    ["another source, and no destination", draft({ source: { id: "s-x", name: "x-pg", type: "postgres" } })],
    ["no usable id, and another name", draft({ id: null })],
  ])("blocks no create that it cannot be: %s", async (_, entry) => {
    const { plan } = await (await withEntry(entry)).plan();
    expect(readySteps(plan)).toMatchObject([{ verb: "create", address: "Integration/crm" }]);
    expect(JSON.stringify(diagnosticsOf(plan))).toContain("New integration");
  });

  it.each<readonly [string, Entry]>([
    ["its source, and no destination", draft({ source: { id: "s-x", name: "crm-pg", type: "postgres" } })],
    ["no source, and its name", draft({ name: "crm" })],
    ["a name that the service makes of the source", draft({ name: "crm-pg → Warehouse", source: { type: "postgres" } })],
    ["no name and no source", draft({ name: undefined })],
    ["no usable id, and its name", draft({ id: null, name: "crm" })],
  ])("blocks the create that it may be, and the message has the ways on: %s", async (_, entry) => {
    const { plan } = await (await withEntry(entry)).plan();
    expect(readySteps(plan)).toEqual([]);
    expect(blockedSteps(plan)).toMatchObject([{ address: "Integration/crm", command: expect.stringMatching(/^dimsync bind /u) }]);
    expect(blockedSteps(plan)[0]?.message).toContain("--exclude Integration/crm");
  });

  const lake = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec: { name: New lake, type: s3, connection: { bucket: lake } }
`;

  it("blocks the create of an asset, which nothing but such an entry may show", async () => {
    const { plan } = await (await withEntry(null, lake)).plan();
    expect(readySteps(plan)).toEqual([]);
    expect(blockedSteps(plan)).toMatchObject([{ address: "Asset/lake", code: "E_READ_FAILED" }]);
    expect(blockedSteps(plan)[0]?.message).toMatch(/entry 0.*--exclude Asset\/lake/u);
  });

  const usesLake = integrationManifest("crm", { destination: "{ asset: lake }" });
  it.each<readonly [string, Entry, boolean]>([
    ["no source and no destination", { source: null, destination: null }, true],
    ["another source and no destination", { source: { id: "s-x", name: "x-pg", type: "postgres" }, destination: null }, true],
    [
      "the source that manifests replicate to it, and no destination",
      { source: { id: "s-x", name: "crm-pg", type: "postgres" }, destination: null },
      false,
    ],
  ])("blocks the create of an asset only if it may use it: %s", async (_, entry, isCreated) => {
    const { plan } = await (await withEntry(draft(entry), `${lake}---\n${usesLake}`)).plan();
    expect(readySteps(plan).some(({ address }) => address === "Asset/lake")).toBe(isCreated);
  });
});

describe("an object that returns 404 by its id", () => {
  const gone = instead(404, { code: "NotFound_Integration", message: "integration not found" });
  const config = shops.replace("shop-shard-*", "shop-shard-01");

  it("and that the list shows, cannot be read with this key: exit 1, and nothing says to give it up", async () => {
    const at = await scene(config, { meddle: ({ path }) => (path.includes(`/${id}`) ? gone : undefined) });
    const { code, plan } = await at.plan();
    expect([code, blockedSteps(plan)]).toMatchObject([1, [{ address: "Schemas/shop-shard-01", code: "E_READ_FAILED" }]]);
    const text = JSON.stringify(plan);
    expect(text).toContain("it cannot be read with this key");
    expect(text).not.toMatch(/gone from the account|unbind/u);
    // Nothing could be read.
    expect((await at.apply()).code).toBe(1);
  });

  it("and that is a tag of the list: the same", async () => {
    const at = await scene("apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, exclusive: true }\n", {
      meddle: ({ path }) => (path === "/v1/tags/t-3" ? instead(404, { code: "NotFound", message: "no" }) : undefined),
    });
    const { code, plan } = await at.plan();
    expect([code, byHandSteps(plan)]).toEqual([1, []]);
  });

  it("and that this run has created, is waited for", async () => {
    let reads = 0;
    const isHidden = (path: string): boolean => /^\/v1\/integrations\/(?!8f1c|51a)/u.test(path);
    const manifests = `${integrationManifest("crm")}---\n${shops.replace('integrations: { names: ["shop-shard-*"] }', "integration: crm")}`;
    const at = await scene(manifests, {
      meddle: ({ method, path }, answer) => {
        if (method !== "GET" || reads > 30) return undefined;
        if (isHidden(path)) return reads++ > 30 ? undefined : gone;
        if (path !== "/v1/integrations") return undefined;
        const { data, ...rest } = structuredClone(answer) as { readonly data: { items: Entry[] } }; // of the embedded service
        return { ...rest, data: { ...data, items: data.items.filter((item) => !isHidden(`/v1/integrations/${String(item["id"])}`)) } };
      },
    });
    const { code, result } = await at.apply();
    expect(JSON.stringify(result)).not.toContain("gone from the account");
    expect([code, endings(result)["create Integration/crm"]]).toEqual([0, "done"]);
    expect(endings(result)["update Schemas/crm"] ?? "done").toBe("done");
  });
});
