// A list that may be incomplete never causes a create.
import { describe, expect, it } from "vitest";
import type { AccountState, EmbeddedOptions } from "../../../src/embedded/index.ts";
import { seedAccount } from "../../../src/embedded/index.ts";
import { blockedSteps, outcomes } from "../../support/steps.ts";
import { endings, integrationManifest, type Scene, scene, tagManifest, together } from "../apply/scene.ts";

const manifests = together(integrationManifest("returns"), tagManifest("the best"));

/** The seed with additional integrations, up to this number. */
function accountOf(total: number): AccountState {
  const state = seedAccount();
  const [model] = state.integrations;
  for (let n = state.integrations.length; model !== undefined && n < total; n++)
    state.integrations.push({
      ...model,
      id: `more-${n}`,
      name: `More ${n}`,
      source: { id: `s-more-${n}`, name: `more-${n}-pg`, type: "postgres" },
    });
  return state;
}

const expectBlocked = async (at: Scene): Promise<string> => {
  const { code, result } = await at.apply();
  expect(code).toBe(4);
  expect(endings(result)).toMatchObject({ "- Integration/returns": "blocked E_LIST_INCOMPLETE", "update Tag/gold": "done" });
  expect(at.writes()).toEqual(["PUT /v1/tags/t-3"]);
  return outcomes(result).find(({ code: why }) => why === "E_LIST_INCOMPLETE")?.message ?? "";
};

describe("a list that may be incomplete blocks creates, but not updates", () => {
  it("its length looks like a page size, and no user has confirmed it", async () => {
    const at = await scene(manifests, { service: { state: accountOf(10) } });
    expect(await expectBlocked(at)).toContain("returned exactly 10 integrations");
  });

  it("it announces more items than further pages return", async () => {
    const at = await scene(manifests, {
      meddle: ({ path }, answer) =>
        path.startsWith("/v1/integrations")
          ? { ...(answer as object), data: { ...(answer as { data: object }).data, totalItems: 9 } }
          : undefined,
    });
    expect(await expectBlocked(at)).toContain("announces more items, but the next page has no new ones");
  });

  it("it lacks a bound id that GET by id returns", async () => {
    const at = await scene(manifests, { service: { paging: { style: "silent", size: 3 } } });
    expect((await at.run(["bind", "Integration/returns=51a2"])).code).toBe(0);
    at.write("manifests/all.yaml", `${manifests}---\n${integrationManifest("other")}`);
    const { plan } = await at.plan();
    expect(blockedSteps(plan)).toMatchObject([{ address: "Integration/other", code: "E_LIST_INCOMPLETE" }]);
  });
});

describe("a list whose length looks like a page size is complete", () => {
  it("if it shows its total", async () => {
    const at = await scene(manifests, { service: { state: accountOf(10), paging: { style: "totalItems", size: 4 } } });
    expect((await at.apply()).code).toBe(0);
  });

  it("if the target says that lists have no pages", async () => {
    const at = await scene(manifests, { service: { state: accountOf(10) }, config: { service: { lists: "complete" } } });
    expect((await at.apply()).code).toBe(0);
    expect(at.service.counts()["POST"]).toBe(1);
  });
});

describe("a failed read never causes a create", () => {
  const tag = "PUT /v1/tags/t-3";
  const integration = "POST /v1/integrations";
  const faults: Readonly<Record<string, readonly [fault: string, sent: string]>> = {
    "a forbidden list": ["GET /v1/integrations$=status:403", tag],
    "a list that fails": ["GET /v1/integrations$=status:500", tag],
    "a list of HTML": ["GET /v1/integrations$=html", tag],
    "an empty response": ["GET /v1/integrations$=empty", tag],
    "half a list": ["GET /v1/integrations$=truncate", tag],
    "tags that fail": ["GET /v1/tags$=status:500", integration],
  };
  for (const [what, [fault, sent]] of Object.entries(faults))
    it(`that it could hide, and stops nothing else: ${what}`, async () => {
      const at = await scene(manifests, { service: { faults: [fault] } });
      const { code, plan } = await at.plan();
      expect({ code, complete: plan.complete, executable: plan.executable }).toEqual({ code: 1, complete: false, executable: true });
      expect((await at.apply()).code).toBe(4);
      expect(at.writes()).toEqual([sent]);
    });

  const newTag = (name: string): string =>
    `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name.toLowerCase()}-1 }\nlifecycle: { create: ifMissing }\nspec: { name: ${name}, owner: u-1 }\n`;
  const tenTags = seedAccount();
  for (let n = tenTags.tags.length; n < 10; n++) tenTags.tags.push({ ...(tenTags.tags[0] as (typeof tenTags.tags)[0]), id: `t-${n}x` });

  it.each<[sentence: string, manifests: string, service: EmbeddedOptions, code: string]>([
    ["the list of tags fails", newTag("Secret"), { faults: ["GET /v1/tags$=status:500"] }, "E_READ_FAILED"],
    ["it may be one page", newTag("Secret"), { state: tenTags }, "E_LIST_INCOMPLETE"],
    ["another manifest creates the name", together(newTag("Secret"), newTag("SECRET").replace("-1", "-2")), {}, "E_SHARED_IDENTITY"],
  ])("a tag is not created, and an integration is: %s", async (_, tags, service, code) => {
    const at = await scene(together(integrationManifest("returns"), tags), {
      service: { extended: true, ...service },
      config: { service: { extended: true } },
    });
    const { result } = await at.apply();
    expect(Object.entries(endings(result)).filter(([item]) => item.includes("Tag/"))).toEqual(
      expect.arrayContaining([["- Tag/secret-1", `blocked ${code}`]]),
    );
    expect(at.writes()).toEqual([integration]);
  });
});

describe("the account of another key", () => {
  const fleet = ["Orders", "Billing", "shop-shard-01"].map(
    (name) => `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: ${name.toLowerCase()} }\nspec: { match: { name: ${name} } }\n`,
  );
  const rule = `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: all }\nspec: { integrations: { names: ["*"] }, rules: [{ match: { column: "*email*" }, set: { hashed: true } }] }\n`;
  const applied = async (): Promise<Scene> => {
    const at = await scene([...fleet, rule].join("---\n"));
    expect((await at.apply()).code).toBe(0);
    return at;
  };
  const renumber = ({ service }: Scene, most: number): void =>
    service.mutate((state) => {
      for (const one of state.integrations.slice(0, most)) Object.assign(one, { id: `other-${one.id}`, name: `Other ${one.name}` });
      for (const one of state.integrations)
        for (const schema of Object.values(one.schemas))
          for (const table of Object.values(schema.tables))
            for (const [name, column] of Object.entries(table.columns)) if (name.includes("email")) column.hashed = false;
    });

  it("gets no rule, and the plan says why", async () => {
    const at = await applied();
    renumber(at, 4);
    const before = at.writes().length;
    const { code, stderr } = await at.apply();
    expect([code, at.writes().length], stderr).toEqual([1, before]);
    expect((await at.plan()).plan.findings).toContainEqual(
      expect.objectContaining({
        rule: "E_GONE",
        severity: "error",
        message: expect.stringContaining("none of the 3 integrations that the records know"),
      }),
    );
  });

  it("is not suspected while one integration is there", async () => {
    const at = await applied();
    renumber(at, 2);
    expect((await at.plan()).plan.findings.filter(({ severity, rule: one }) => severity === "error" && one === "E_GONE")).toEqual([]);
  });
});
