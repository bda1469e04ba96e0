// A saved plan is applied as it was reviewed, once, or refused.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DimsyncError } from "../../../src/core/base/model/errors.ts";
import { guardFindings } from "../../../src/core/base/model/findings.ts";
import type { Plan, ReadyStep } from "../../../src/core/base/model/plan.ts";
import { checkSavedPlan } from "../../../src/core/operations/saved-plan.ts";
import { digestOf } from "../../../src/core/records/plan-file.ts";
import type { StoredSchema, TableEntry } from "../../../src/embedded/index.ts";
import { repositoryIn } from "../../support/git/remote.ts";
import { outcomes, readySteps, stepsFrom, waitingSteps, withReady } from "../../support/steps.ts";
import {
  assetManifest,
  endings,
  integrationManifest,
  ordersManifest,
  type Scene,
  scene,
  schemaManifest,
  tagManifest,
  together,
} from "../apply/scene.ts";
import { config, load } from "../manifests/project-on-disk.ts";
import { plan as planWith } from "../render/plans.ts";

const manifests = together(
  tagManifest("the best"),
  ordersManifest,
  schemaManifest(
    "orders",
    "{ public: { tables: { customers: { columns: { email: { hashed: true } } }, payments: { columns: { iban: { hashed: false } } } } } }",
  ),
);

const savedPlan = async (at: Scene, env: Readonly<Record<string, string>> = {}): Promise<Plan> => {
  expect((await at.run(["plan", "--out", "plan.json"], env)).code).toBe(0);
  return JSON.parse(readFileSync(join(at.folder, "plan.json"), "utf8")) as Plan;
};

describe("a saved plan", () => {
  it("makes exactly its calls, with exactly its bodies", async () => {
    const sent: unknown[] = [];
    const at = await scene(manifests, {
      service: { onExchange: ({ method, path, requestBody }) => void (method === "GET" || sent.push({ method, path, body: requestBody })) },
    });
    const plan = await savedPlan(at);
    const { code, result } = await at.apply("plan.json");
    expect(code).toBe(0);
    expect(sent).toEqual(readySteps(plan).flatMap(({ requests }) => requests));
    expect(result.planId).toBe(plan.planId);
  });

  it("refuses the item whose live object has changed, with the old and the new value, executes the others, and ends with 5", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    at.service.mutate(({ tags }) => {
      for (const tag of tags) if (tag.name === "Gold") tag.description = "changed by hand";
    });
    const { code, result } = await at.apply("plan.json");
    expect(code).toBe(5);
    expect(endings(result)).toMatchObject({ "update Tag/gold": "skipped E_STALE", "update Schemas/orders": "done" });
    expect(outcomes(result).find(({ code: why }) => why === "E_STALE")?.command).toBe("dimsync plan --out plan.json");
    expect(outcomes(result).find(({ code: why }) => why === "E_STALE")?.message).toMatch(
      /^It changed after the plan was made: \/description was "" when it was planned and is "changed by hand" now\. Gold was perhaps changed by dana@example\.com, \S+ \S+ UTC \(only the time fits\)\.$/u,
    );
    expect(at.writes()).not.toContain("PUT /v1/tags/t-3");
  });

  it.each([
    [
      "its column, if the event names it",
      'Column "email" of table "customers" in "Orders" was un-hashed',
      /now\. Un-hashed by erin@example\.com, \S+ \S+ UTC\.$/u,
    ],
    [
      "its object, if the event names no column",
      'Schema of "Orders" changed',
      /now\. Orders was changed by erin@example\.com, \S+ \S+ UTC\.$/u,
    ],
    ["nobody, if the event is about another topic", '"Orders" was paused', /now\.$/u],
  ])("says of a stale item who changed %s", async (_, event, expected) => {
    const wanted = schemaManifest(
      "orders",
      "{ public: { tables: { customers: { columns: { email: { enabled: false, hashed: true } } } } } }",
    );
    const at = await scene(together(ordersManifest, wanted));
    const hash = (hashed: boolean): void =>
      at.service.mutate(
        ({ integrations: [orders] }) =>
          void Object.assign(orders?.schemas["public"]?.tables["customers"]?.columns["email"] ?? {}, { enabled: hashed, hashed }),
        { email: "erin@example.com" },
        event,
      );
    hash(true);
    await savedPlan(at);
    hash(false);
    const { code, result } = await at.apply("plan.json");
    expect(code).toBe(5);
    expect(outcomes(result).find(({ code: why }) => why === "E_STALE")?.message).toMatch(expected);
  });

  it.each<readonly [string, string, (table: TableEntry, schema: StoredSchema) => void, boolean]>([
    [
      "enables a column that someone unhashes",
      "columns: { phone: { enabled: true } }",
      ({ columns }) => void Object.assign(columns["phone"] ?? {}, { hashed: false }),
      true,
    ],
    [
      "unhashes a column whose table someone enables",
      "columns: { phone: { hashed: false } }",
      (table) => void Object.assign(table, { enabled: true }),
      true,
    ],
    [
      "unhashes a column whose schema someone enables",
      "columns: { phone: { hashed: false } }",
      (_, schema) => void Object.assign(schema, { enabled: true }),
      true,
    ],
    [
      "enables a table in which someone unhashes a column",
      "enabled: true",
      ({ columns }) => void Object.assign(columns["phone"] ?? {}, { hashed: false }),
      true,
    ],
    [
      "enables a table that gets a column",
      "enabled: true",
      ({ columns }) => void Object.assign(columns, { ssn: { ...columns["phone"] } }),
      true,
    ],
    [
      "hashes a column whose table someone enables",
      "columns: { email: { hashed: true } }",
      (table) => void Object.assign(table, { enabled: true }),
      false,
    ],
    [
      "unhashes a column beside which another one changes",
      "columns: { phone: { hashed: false } }",
      ({ columns }) => void Object.assign(columns["email"] ?? {}, { enabled: false }),
      false,
    ],
  ])("that %s is stale only if it would expose something else", async (_, wanted, change, isStale) => {
    const at = await scene(together(ordersManifest, schemaManifest("orders", `{ public: { tables: { customers: { ${wanted} } } } }`)));
    const edit = (by: typeof change): void =>
      at.service.mutate(({ integrations: [orders] }) => {
        const schema = orders?.schemas["public"];
        const table = schema?.tables["customers"];
        if (schema !== undefined && table !== undefined) by(table, schema);
      });
    edit((table, schema) => {
      Object.assign(schema, { enabled: false });
      Object.assign(table, { enabled: false });
      Object.assign(table.columns["phone"] ?? {}, { enabled: false, hashed: true });
    });
    await savedPlan(at);
    edit(change);
    const { code, result } = await at.apply("plan.json");
    expect([code, endings(result)["update Schemas/orders"]]).toEqual(isStale ? [5, "skipped E_STALE"] : [0, "done"]);
  });

  it("is applied once: the second time, nothing is sent and the message names the first run", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    const { result } = await at.apply("plan.json");
    at.service.resetCounts();
    const again = await at.run(["apply", "plan.json"]);
    expect(again).toMatchObject({ code: 5, stdout: "" });
    expect(again.stderr).toContain("E_PLAN_APPLIED");
    expect(again.stderr).toContain(result.runId);
    expect(at.service.requests).toEqual([]);
  });

  it("does not create an object that another plan has created since", async () => {
    const at = await scene(together(assetManifest(), integrationManifest("returns")));
    await savedPlan(at);
    const plan = readFileSync(join(at.folder, "plan.json"), "utf8");
    expect((await at.apply()).code).toBe(0);
    at.write("plan.json", plan);
    const { code, result } = await at.apply("plan.json");
    expect(code).toBe(5);
    expect(endings(result)).toMatchObject({ "create Asset/archive": "skipped E_STALE", "create Integration/returns": "skipped E_STALE" });
    const { assets, integrations } = at.service.state();
    expect(assets.filter(({ name }) => name === "archive")).toHaveLength(1);
    expect(integrations.filter(({ source }) => source.name === "returns-pg")).toHaveLength(1);
  });

  it("does not repeat a create whose outcome became unknown since", async () => {
    const at = await scene(assetManifest());
    await savedPlan(at);
    const plan = readFileSync(join(at.folder, "plan.json"), "utf8");
    at.service.addFault("POST /v1/assets@1=reset-before");
    expect((await at.apply()).code).toBe(4);
    at.write("plan.json", plan);
    const { code, result } = await at.apply("plan.json");
    expect(code).toBe(4);
    expect(endings(result)).toEqual({ "create Asset/archive": "blocked E_UNKNOWN_OUTCOME" });
    expect(at.writes()).toEqual(["POST /v1/assets"]);
  });

  it("continues with the part that waits, and nothing else", async () => {
    const at = await scene(
      together(
        assetManifest(),
        integrationManifest("returns", { destination: "{ asset: archive }" }),
        schemaManifest("returns", "{ public: { enabled: true, tables: { orders: { enabled: true } } } }"),
        tagManifest("the best"),
      ),
    );
    const plan = await savedPlan(at);
    expect(
      waitingSteps(plan)
        .map(({ address }) => address)
        .sort(),
    ).toEqual(["Integration/returns", "Schemas/returns"]);
    // Drift that is not in the plan stays.
    at.service.mutate(({ tags }) => {
      for (const tag of tags) if (tag.name === "PII") tag.description = "other";
    });
    const { code, result } = await at.apply("plan.json");
    expect({ code, endings: endings(result) }).toEqual({
      code: 0,
      endings: {
        "create Asset/archive": "done",
        "update Tag/gold": "done",
        "bind Tag/gold": "done",
        "create Integration/returns": "done",
        "update Schemas/returns": "done",
      },
    });
  });

  it("of other manifests is refused with exit 5 before anything is read", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    at.write("manifests/all.yaml", manifests.replace("the best", "a better description"));
    at.service.resetCounts();
    const ran = await at.run(["apply", "plan.json"]);
    expect(ran).toMatchObject({ code: 5, stdout: "", stderr: expect.stringContaining("dimsync: E_STALE: ") });
    expect(at.service.requests).toEqual([]);
  });

  type Editable = { -readonly [K in keyof ReadyStep]: ReadyStep[K] };
  /** Writes the plan again after the edit, with the digest that belongs to it. */
  const edited = async (
    at: Scene,
    edit: (plan: Plan, items: readonly Editable[]) => Partial<Plan> & { readonly items?: readonly ReadyStep[] },
  ): Promise<void> => {
    const { integrity: _, ...plan } = JSON.parse(readFileSync(join(at.folder, "plan.json"), "utf8"));
    const { items, ...members } = edit(plan, readySteps(plan));
    const next = { ...(items === undefined ? plan : withReady(plan, items)), ...members };
    at.write("plan.json", JSON.stringify({ ...next, integrity: { digest: digestOf(next, undefined) } }));
  };
  const withGold = (edit: (gold: Editable) => Partial<ReadyStep>) => (plan: Plan) => ({
    items: readySteps(plan).map((item) => (item.address === "Tag/gold" && item.verb === "update" ? { ...item, ...edit(item) } : item)),
  });
  const edits: Readonly<Record<string, Parameters<typeof edited>[1]>> = {
    "another body": withGold(({ requests }) => ({ requests: requests.map((one) => ({ ...one, body: { ...one.body, name: "OWNED" } })) })),
    "another path": withGold(({ requests }) => ({ requests: requests.map((one) => ({ ...one, path: "/v1/tags/t-2" })) })),
    "another method": withGold(({ requests }) => ({ requests: requests.map((one) => ({ ...one, method: "PATCH" as const })) })),
    "another live id": withGold(() => ({ liveId: "t-2" })),
    "a request more": withGold(({ requests }) => ({ requests: [...requests, ...requests] })),
    "an item twice": (_, items) => ({ items: [...items, ...items.map((item, index) => ({ ...item, id: `s9${index}` }))] }),
  };
  it.each(Object.entries(edits))(
    "with %s is refused with E_STALE, although its digest was computed again, and nothing is sent",
    async (_, edit) => {
      const at = await scene(manifests);
      await savedPlan(at);
      await edited(at, edit);
      const ran = await at.run(["apply", "plan.json"]);
      expect(ran).toMatchObject({ code: 5, stdout: "", stderr: expect.stringContaining("dimsync: E_STALE: ") });
      expect(at.writes()).toEqual([]);
    },
  );

  const liftings: Readonly<Record<string, (plan: Plan) => Partial<Plan>>> = {
    "whose guard was removed": () => ({ findings: [], executable: true }),
    "whose guard was lifted": (plan) => ({
      findings: guardFindings(plan).map((one) => ({ ...one, guard: { ...one.guard, allowed: "I say so" } })),
      executable: true,
    }),
  };
  for (const [what, edit] of Object.entries(liftings))
    it(`${what} in the file is refused by the guard`, async () => {
      const at = await scene(assetManifest(), { config: { guards: { maxCreates: 0 } } });
      expect((await at.run(["plan", "--out", "plan.json"])).code).toBe(3);
      await edited(at, edit);
      const { code, result } = await at.apply("plan.json");
      expect({ code, endings: endings(result) }).toEqual({ code: 3, endings: { "create Asset/archive": "blocked E_GUARD" } });
      expect(at.writes()).toEqual([]);
      expect((await at.apply("plan.json", "--allow", "maxCreates=agreed")).code).toBe(0);
    });

  it("does not run an item that the manifests do not give", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    const own = { id: "s99", address: "Tag/pii", liveId: "t-2" };
    await edited(at, (_, items) => ({
      items: [
        ...items,
        ...items
          .filter(({ verb }) => verb === "update")
          .map((item) => ({ ...item, ...own }))
          .slice(0, 1),
      ],
    }));
    expect(await at.apply("plan.json")).toMatchObject({
      code: 5,
      result: { steps: expect.arrayContaining([expect.objectContaining({ id: "s99", outcome: "skipped" })]) },
    });
    expect(at.writes()).not.toContain("PUT /v1/tags/t-2");
  });

  it("runs its steps in the order that they need, whatever the file says", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    await edited(at, (_, items) => ({ items: [...items].reverse().map((item) => ({ ...item, dependsOn: [] })) }));
    expect((await at.apply("plan.json")).code).toBe(0);
    expect(at.writes().length).toBeGreaterThan(1);
  });

  it("is planned again with the options that it was made with", async () => {
    const at = await scene(manifests);
    expect((await at.run(["plan", "--out", "plan.json", "--only", "Schemas/*"])).code).toBe(0);
    const { code, result } = await at.apply("plan.json");
    expect({ code, endings: endings(result) }).toEqual({ code: 0, endings: { "update Schemas/orders": "done" } });
    expect(readySteps((await at.plan()).plan).map(({ address }) => address)).toContain("Integration/orders");
  });

  it("cannot record what it says about the account", async () => {
    const at = await scene(manifests);
    await savedPlan(at);
    const steps = stepsFrom({
      notKept: [
        {
          address: "Schemas/orders",
          path: "/schemas/public/tables/customers/columns/email/hashed",
          wanted: true,
          live: false,
          since: "2026-01-01T00:00:00.000Z",
        },
      ],
    });
    await edited(at, (_, items) => ({ steps: [...items.filter(({ address }) => address !== "Schemas/orders"), ...steps] }));
    expect((await at.apply("plan.json")).code).toBe(0);
    expect(readySteps((await at.plan()).plan).map(({ address }) => address)).toEqual(["Schemas/orders"]);
  });

  it("signed with DIMSYNC_DIGEST_KEY is applied with its key only", async () => {
    const at = await scene(manifests);
    await savedPlan(at, { DIMSYNC_DIGEST_KEY: "k1" });
    const apply = (key: string) => at.run(["apply", "plan.json"], { DIMSYNC_DIGEST_KEY: key });
    expect(await apply("k2")).toMatchObject({ code: 5, stderr: expect.stringContaining("E_PLAN_TAMPERED") });
    expect((await apply("k1")).code).toBe(0);
  });
});

describe("a protected target", () => {
  const protectedScene = async () => {
    const at = await scene(manifests);
    const config = readFileSync(join(at.folder, "dimsync.yaml"), "utf8");
    at.write("dimsync.yaml", config.replace(/(baseUrl: \S+)/u, "$1\n    protected: true"));
    return { at, git: repositoryIn(at.folder) };
  };

  it("is not changed by apply without a saved plan: exit 3, nothing sent", async () => {
    const { at } = await protectedScene();
    const ran = await at.run(["apply", "--yes"]);
    expect(ran).toMatchObject({ code: 3, stdout: "" });
    expect(ran.stderr).toContain("E_PROTECTED");
    expect(at.service.requests).toEqual([]);
  });

  it("accepts one plan after the other from a clean tree, although the plan files are not committed", async () => {
    const { at, git } = await protectedScene();
    await savedPlan(at);
    expect((await at.apply("plan.json")).code).toBe(0);
    git("add", "dimsync.bindings.yaml");
    git("commit", "-qm", "two");
    at.service.mutate(({ tags }) => {
      for (const tag of tags) if (tag.name === "Gold") tag.description = "changed by hand";
    });
    expect((await savedPlan(at)).git).toMatchObject({ dirty: false });
    expect((await at.apply("plan.json")).code).toBe(0);
    expect(at.service.state().tags.find(({ name }) => name === "Gold")?.description).toBe("the best");
  });

  it("is not planned in a checkout that leaves out a file of the project, and its plan is refused", async () => {
    const { at, git } = await protectedScene();
    at.write("manifests/more.yaml", tagManifest("more").replaceAll("gold", "more"));
    git("add", ".");
    git("commit", "-qm", "two");
    git("sparse-checkout", "set", "--no-cone", "/*", "!/manifests/more.yaml");
    for (const argv of [["plan", "--out", "plan.json"], ["drift"], ["validate"]]) {
      const { code, stdout, stderr } = await at.run(argv);
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("E_SPARSE_CHECKOUT")]);
      expect(stdout + stderr).toContain("git sparse-checkout add manifests");
    }
    expect(await at.run(["apply", "plan.json"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("leaves out manifests/more.yaml"),
    });
    expect(at.writes()).toEqual([]);
  });

  it("names the uncommitted changes for which apply will refuse its plan", async () => {
    const { at } = await protectedScene();
    at.write("manifests/all.yaml", manifests.replace("the best", "the very best"));
    const planned = await at.run(["plan", "--out", "plan.json"]);
    expect(planned.code).toBe(0);
    expect(planned.stdout.replaceAll(/\s+/gu, " ")).toContain(
      "Apply will refuse this plan: The target is protected, and there are uncommitted changes in manifests/all.yaml.",
    );
    expect(await at.run(["apply", "plan.json"])).toMatchObject({ code: 3, stdout: "" });
    expect(at.writes()).toEqual([]);
  });
});

describe("a saved plan is refused", () => {
  const commit = "1".repeat(40);
  const clean = { commit, dirty: false };
  interface Given {
    readonly plan?: Partial<Plan>;
    readonly git?: Plan["git"];
    readonly isProtected?: boolean;
    readonly maxAgeMs?: number;
    readonly runId?: string;
    readonly isOutside?: true;
  }
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  const day = 24 * 60 * 60 * 1000;
  const inTree = (made: NonNullable<Plan["git"]>, now = clean): Given => ({ plan: { git: made }, git: now, isProtected: true });

  it.each<readonly [what: string, given: Given, refusal: string | undefined]>([
    ["not as it was made", {}, undefined],
    ["not if its tree was clean at HEAD, for a protected target", inTree(clean), undefined],
    ["for another target", { plan: { target: "dev" } }, 'E_PLAN_TARGET 5 The plan is for target "dev", not "prod".'],
    ["for another account", { plan: { account: "http://localhost:2" } }, "E_PLAN_TARGET 5 The plan is for the account http://localhost:2,"],
    ["if it is too old", { plan: { createdAt: at(-day - 1000) } }, "E_STALE 5 .* expired after 1 day"],
    ["if it is older than --max-plan-age", { plan: { createdAt: at(-2000) }, maxAgeMs: 1000 }, "E_STALE 5 .* expired after"],
    ["if it was made in the future", { plan: { createdAt: at(day) } }, "E_STALE 5 .*in the future.*Check the clock"],
    ["if its time cannot be read", { plan: { createdAt: "soon" } }, "E_STALE 5"],
    [
      "for other manifests, with both commits",
      { plan: { manifestDigest: "sha256:other", git: clean }, git: { commit: "2".repeat(40), dirty: false } },
      "E_STALE 5 .*at commit 111111111111; HEAD is now 222222222222",
    ],
    ["if a run has applied it", { runId: "run-7" }, "E_PLAN_APPLIED 5 .*run run-7"],
    [
      "with uncommitted changes",
      inTree({ commit, dirty: true, changedFiles: ["a.yaml"] }),
      "E_PROTECTED 3 .*uncommitted changes in a.yaml",
    ],
    ["of a sparse checkout", inTree({ ...clean, leftOut: ["a.yaml"] }), "E_PROTECTED 3 .*leaves out a.yaml"],
    ["made outside a repository", { isOutside: true, isProtected: true }, "E_PROTECTED 3 .*made outside a git repository"],
    ["applied outside a repository", { ...inTree(clean), git: undefined }, "E_PROTECTED 3 .*not in a git repository"],
    [
      "of another commit",
      inTree(clean, { commit: "2".repeat(40), dirty: false }),
      "E_PROTECTED 3 .*made at 111111111111, but HEAD is 222222",
    ],
  ])("%s", async (_, given, refusal) => {
    const { settings } = await load({ "dimsync.yaml": config("targets: { prod: { baseUrl: 'http://127.0.0.1:1' } }") });
    const { git: _git, ...outside } = planWith({ account: settings.baseUrl, manifestDigest: "sha256:now", createdAt: at(-1000) });
    const made = given.isOutside === true ? outside : { ...outside, git: clean, ...given.plan };
    const applied = given.runId === undefined ? undefined : { planId: made.planId, at: made.createdAt, runId: given.runId };
    const said = await checkSavedPlan(
      made,
      { settings: { ...settings, protected: given.isProtected === true }, manifestDigest: () => "sha256:now" },
      { git: "git" in given ? given.git : clean, records: { wasApplied: async () => applied } },
      given.maxAgeMs,
    ).then(
      () => undefined,
      (error: DimsyncError) => `${error.code} ${error.exit} ${error.message}`,
    );
    if (refusal === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(new RegExp(`^${refusal}`, "u"));
  });
});
