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
