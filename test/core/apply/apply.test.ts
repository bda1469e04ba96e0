// Apply sends nothing if a guard refuses or something that it needs is missing.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { guardFindings } from "../../../src/core/base/model/findings.ts";
import { outcomes, waitingSteps } from "../../support/steps.ts";
import { assetManifest, endings, integrationManifest, ordersManifest, scene, schemaManifest, tagManifest, together } from "./scene.ts";

const exposing = together(
  ordersManifest,
  schemaManifest("orders", "{ public: { tables: { payments: { columns: { iban: { hashed: false } } } } } }"),
);
const flipped =
  'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: all }\nspec: { integrations: { names: ["*"] }, rules: [{ match: { column: "*" }, set: { hashed: true } }] }\n';
const chain = together(assetManifest(), integrationManifest("returns", { destination: "{ asset: archive }" }));
const windowBehindAsset = together(
  assetManifest(),
  integrationManifest("returns", { enabled: true, destination: "{ asset: archive }" }),
  schemaManifest("returns", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }"),
);

const cases: Readonly<Record<string, readonly [guard: string, manifests: string, guards?: Readonly<Record<string, number>>]>> = {
  "more creates than allowed, one of them waiting for another": ["maxCreates", chain, { maxCreates: 1 }],
  "more exposed columns than allowed": ["maxExposedColumns", exposing, { maxExposedColumns: 0 }],
  "a glob that flips all columns": ["maxChangedPercent", flipped],
  "data would be replicated before it is hashed, and the integration still waits": ["exposureWindow", windowBehindAsset],
};

describe("a guard refuses plan, drift and apply with exit 3, and nothing is sent; users can lift it by name with a reason", () => {
  for (const [what, [guard, manifests, guards]] of Object.entries(cases))
    it(what, async () => {
      const at = await scene(manifests, guards === undefined ? {} : { config: { guards } });
      const planned = await at.plan();
      expect(planned.code).toBe(3);
      expect(guardFindings(planned.plan).map(({ rule }) => rule)).toEqual([guard]);
      expect((await at.run(["drift"])).code).toBe(3);
      const refused = await at.apply();
      expect(refused.code).toBe(3);
      expect(refused.result.exit.reasons).toContain(guard);
      const endings = new Set(
        outcomes(refused.result).map(
          ({ waitsFor, outcome, code }) => `${waitsFor === undefined ? "planned" : "waited"} ${outcome} ${code}`,
        ),
      );
      expect(endings).toEqual(
        new Set(["planned blocked E_GUARD", ...(waitingSteps(planned.plan).length > 0 ? ["waited skipped E_DEPENDENCY"] : [])]),
      );
      expect(at.writes()).toEqual([]);

      const { code, result } = await at.apply("--allow", `${guard}=ticket 41`);
      expect(code).toBe(0);
      expect(guardFindings(result)).toMatchObject([{ rule: guard, guard: { allowed: "ticket 41" } }]);
      expect(at.writes().length).toBeGreaterThan(0);
    });

  it("the name of another guard does not lift it, and an unknown name is an error", async () => {
    const at = await scene(chain, { config: { guards: { maxCreates: 1 } } });
    expect((await at.apply("--allow", "policy=because")).code).toBe(3);
    expect((await at.run(["apply", "--yes", "--allow", "maxCreate=because"])).stderr).toContain("maxCreates?");
    expect((await at.run(["apply", "--yes", "--allow", "maxCreates"])).code).toBe(1);
  });

  it("a guard that --allow lifted for a saved plan refuses it, and says to pass --allow to apply, too", async () => {
    const at = await scene(chain, { config: { guards: { maxCreates: 1 } } });
    expect((await at.run(["plan", "--out", "plan.json", "--allow", "maxCreates=ticket 41"])).code).toBe(0);
    const { code, result } = await at.apply("plan.json");
    expect([code, guardFindings(result)[0]?.message]).toEqual([
      3,
      expect.stringContaining('Pass --allow maxCreates="reason" to apply, too.'),
    ]);
    expect((await at.apply("plan.json", "--allow", "maxCreates=ticket 41")).code).toBe(0);
  });

  it("later rounds count what earlier ones created", async () => {
    const at = await scene(chain, { config: { guards: { maxCreates: 2 } } });
    const { code, result } = await at.apply();
    expect({ code, endings: endings(result) }).toEqual({
      code: 0,
      endings: { "create Asset/archive": "done", "create Integration/returns": "done" },
    });
  });
});

/** Placeholders that a shell or a template did not replace. */
const unexpanded = ["$", "{DB_PASSWORD}"].join("");

describe("before the first write, apply requires", () => {
  const secretAsset = (variable: string): string =>
    together(tagManifest("the best"), assetManifest("archive", `, connection: { password: { $secret: { env: ${variable} } } }`));

  it("a missing secret: exit 1, and nothing is sent", async () => {
    const at = await scene(secretAsset("MISSING"));
    expect((await at.plan()).code).toBe(0);
    const ran = await at.run(["apply", "--yes"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("E_SECRET_MISSING");
    expect(at.writes()).toEqual([]);
  });

  for (const placeholder of ["***", "<redacted>", unexpanded, "changeme", "[secret]"])
    it(`a placeholder instead of a secret (${placeholder}): exit 1, and nothing is sent`, async () => {
      const at = await scene(secretAsset("DB"));
      const ran = await at.run(["apply", "--yes"], { DB: placeholder });
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toContain("E_SECRET_MISSING");
      expect(at.writes()).toEqual([]);
    });

  for (const placeholder of ["***", "<redacted>", unexpanded])
    it(`a placeholder instead of the API key (${placeholder}): exit 1 before any call`, async () => {
      const at = await scene(tagManifest("the best"));
      const ran = await at.run(["apply", "--yes"], { TEST_API_KEY: placeholder });
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(at.service.requests).toEqual([]);
    });

  it("a confirmation: without a terminal exit 1", async () => {
    const at = await scene(tagManifest("the best"));
    const ran = await at.run(["apply"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("E_NOT_CONFIRMED");
    expect(at.service.requests).toEqual([]);
  });

  it("a run that may write: DIMSYNC_READ_ONLY overrides every flag", async () => {
    const at = await scene(tagManifest("the best"));
    expect((await at.run(["apply", "--yes"], { DIMSYNC_READ_ONLY: "1" })).code).toBe(1);
    expect(at.service.requests).toEqual([]);
  });

  it("a file for the result that can be written: otherwise exit 1 before any call", async () => {
    const at = await scene(tagManifest("the best"));
    expect((await at.run(["apply", "--yes", "--result", "no/such/folder/result.json"])).code).toBe(1);
    expect(at.service.requests).toEqual([]);
  });
});

it("the result file is written although another output can't be, and the failure is reported", async () => {
  const at = await scene(tagManifest("the best"), {
    service: {
      onExchange: ({ method }) => {
        if (method === "PUT") rmSync(join(at.folder, "out"), { recursive: true });
      },
    },
  });
  mkdirSync(join(at.folder, "out"));
  const ran = await at.run(["apply", "--yes", "--result", "result.json", "-o", "markdown=out/result.md"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("E_OUTPUT");
  expect(JSON.parse(readFileSync(join(at.folder, "result.json"), "utf8"))).toMatchObject({ kind: "Result", exit: { code: 0 } });
});

it("several targets: the result of the first is reported and kept although the second can't be reached", async () => {
  const at = await scene(tagManifest("the best"));
  const config = readFileSync(join(at.folder, "dimsync.yaml"), "utf8");
  const target = /( {2}test:\n(?: {4}.*\n)+)/u.exec(config)?.[1] ?? "";
  at.write("dimsync.yaml", config.replace(target, `${target}${target.replace("test:", "zone:").replace("TEST_API_KEY", "NO_SUCH_KEY")}`));
  const ran = await at.run(["apply", "--yes", "--all-targets", "--result", "result.json", "-o", "json"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("NO_SUCH_KEY");
  const kept: unknown = JSON.parse(readFileSync(join(at.folder, "result.json"), "utf8"));
  expect(kept).toMatchObject({ target: "test", exit: { code: 0 } });
  expect(JSON.parse(ran.stdout)).toEqual(kept);
});
