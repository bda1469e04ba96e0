// A create is sent once, whatever becomes of its response, and its id is recorded.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { openBindings } from "../../../src/core/records/folder/bindings.ts";
import { thisHolder } from "../../../src/core/records/process-identity.ts";
import type { AccountState } from "../../../src/embedded/index.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { keyVariable } from "../../support/project-folder.ts";
import { editRecords, recordsIn, unsettled } from "../../support/records.ts";
import { blockedSteps, outcomes, readySteps } from "../../support/steps.ts";
import {
  assetManifest,
  endings,
  instead,
  integrationManifest,
  type Meddle,
  type SceneOptions,
  scene,
  tagManifest,
  together,
} from "./scene.ts";

const archives = ({ assets }: AccountState): readonly string[] => assets.filter(({ name }) => name === "archive").map(({ id }) => id);
const returns = ({ integrations }: AccountState): readonly string[] =>
  integrations.filter(({ source }) => source.name === "returns-pg").map(({ id }) => id);

describe("the response to a create", () => {
  it("with an empty data: the int64 is the id, with all its digits", async () => {
    const at = await scene(integrationManifest("returns"), { service: { createAnswer: "intOnly" } });
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(result.bindings).toEqual({ "Integration/returns": "9007199254741093" });
    expect(returns(at.service.state())).toEqual(["9007199254741093"]);
  });

  it("whose data.id returns 404: the int64 is tried", async () => {
    const at = await scene(integrationManifest("returns"), {
      service: { createAnswer: "intOnly" },
      meddle: ({ method }, answer) => (method === "POST" ? { id: 0, code: "created", data: { id: "no-such-id" } } : answer),
    });
    // The proxy's JSON cannot contain an int64, so only the list has the id.
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(endings(result)).toEqual({ "create Integration/returns": "recovered" });
    expect(Object.values(result.bindings)).toEqual(returns(at.service.state()));
  });

  it("without any id: found by reading", async () => {
    const at = await scene(integrationManifest("returns"), {
      meddle: ({ method }, answer) => (method === "POST" ? { code: "created" } : answer),
    });
    const { code, result } = await at.apply();
    expect({ code, endings: endings(result) }).toEqual({ code: 0, endings: { "create Integration/returns": "recovered" } });
    expect(Object.values(result.bindings)).toEqual(returns(at.service.state()));
  });

  it("that can't be confirmed, because a read fails: the id of the response is recorded", async () => {
    const at = await scene(integrationManifest("returns"), {
      service: { faults: ["GET /v1/integrations/[0-9a-f]{8}$=status:500", "GET /v1/integrations$@3=status:500"] },
      config: { client: { settleSeconds: 0, retries: 0, timeoutSeconds: 600 } },
    });
    const first = await at.apply();
    expect(first.code).toBe(0);
    expect(endings(first.result)).toEqual({ "create Integration/returns": "done" });
    expect(outcomes(first.result)[0]?.message).toContain("The id of the response is recorded.");
    at.service.clearFaults();
    const { code, result } = await at.apply();
    expect({ code, endings: endings(result) }).toEqual({ code: 0, endings: {} });
    expect(returns(at.service.state())).toEqual([result.bindings["Integration/returns"]]);
  });
});

it("a create that is refused is not looked for afterwards", async () => {
  const at = await scene(integrationManifest("returns"), { service: { faults: ["POST /v1/integrations$=status:422"] } });
  const { code, result } = await at.apply();
  expect([code, Object.values(endings(result))]).toEqual([4, ["failed E_SERVICE_STATUS"]]);
  expect(at.service.requests.at(-1)?.method).toBe("POST");
});

test.each([403, 404, 425])(
  "an integration that only the list shows is new, also while reads of it are answered with %d",
  async (status) => {
    const rules =
      "metadata: { name: returns }\nspec: { integration: returns, rules: [{ match: { column: '*email*' }, set: { hashed: true } }] }";
    const at = await scene(together(integrationManifest("returns"), `\napiVersion: dimsync/v1\nkind: SchemaConfig\n${rules}\n`), {
      service: { faults: [1, 2, 3, 4].map((nth) => `GET /v1/integrations/[0-9a-f]{8}(/|$)@${nth}=status:${status}`) },
      config: { client: { settleSeconds: 1, schemaWaitSeconds: 20, retries: 0, timeoutSeconds: 600 } },
      meddle: ({ method }, answer) => (method === "POST" ? { code: "created" } : answer),
    });
    const { code, result } = await at.apply();
    expect([code, endings(result)]).toEqual([0, { "create Integration/returns": "recovered", "update Schemas/returns": "done" }]);
  },
);

const hashesReturns =
  "\napiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: returns }\nspec: { integration: returns, rules: [{ match: { column: '*email*' }, set: { hashed: true } }] }\n";

test.each<[string, SceneOptions]>([
  ["a PATCH of schemas with 404", { service: { faults: ["PATCH /v1/integrations/[0-9a-f]{8}/schemas@1=status:404"] } }],
  ["a read of its schemas without their tables", { meddle: withoutTables(2) }],
])("a new integration that answers %s is not ready yet, and is hashed in the same run", async (_, options) => {
  const at = await scene(together(integrationManifest("returns"), hashesReturns), options);
  const { code, result } = await at.apply();
  expect([code, endings(result)]).toEqual([0, { "create Integration/returns": "done", "update Schemas/returns": "done" }]);
});

/** The first reads of the schemas of new integrations show no table. */
function withoutTables(reads: number): Meddle {
  let left = reads;
  return ({ method, path }) =>
    method === "GET" && /[0-9a-f]{8}\/schemas$/u.test(path) && left-- > 0
      ? { code: "success", data: { schemas: { public: { enabled: true, tables: {} } } } }
      : undefined;
}

it("a create that is answered with the id of another integration binds nothing", async () => {
  const at = await scene(integrationManifest("returns"), {
    service: { faults: ["POST /v1/integrations$=status:201"] },
    config: { client: { settleSeconds: 0, timeoutSeconds: 600 } },
    meddle: ({ method }) => (method === "POST" ? instead(201, { code: "success", data: { id: "8f1c" } }) : undefined),
  });
  const { code, result } = await at.apply();
  expect([code, endings(result)]).toEqual([4, { "create Integration/returns": "unknown E_UNKNOWN_OUTCOME" }]);
  expect(result.bindings).toEqual({});
  expect(outcomes(result)[0]?.message).toContain("8f1c of another object");
});

describe("a create whose response is lost", () => {
  it("while someone creates the same object: unknown, with both ids, and never a third one", async () => {
    let double = (): void => undefined;
    const { apply, service, plan } = await scene(integrationManifest("returns"), {
      service: {
        faults: ["POST /v1/integrations$=reset-after"],
        onExchange: ({ method }) => {
          if (method === "POST") double();
        },
      },
    });
    double = () =>
      service.mutate((state) => {
        const made = state.integrations.find(({ source }) => source.name === "returns-pg");
        if (made !== undefined) state.integrations.push({ ...made, id: "twin" });
      });
    const { code, result } = await apply();
    expect(code).toBe(4);
    const ids = returns(service.state());
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(outcomes(result)[0]?.message).toContain(id);
    service.clearFaults();
    const [blocked] = blockedSteps((await plan()).plan);
    expect(blocked).toMatchObject({ code: "E_AMBIGUOUS", address: "Integration/returns" });
    for (const id of ids) expect(blocked?.message).toContain(id);
    expect((await apply()).result.calls.sent).not.toHaveProperty("POST");
  });

  it("of an asset: shows the audit log's entry, found by run and quoted name, and binds nothing", async () => {
    const at = await scene(assetManifest(), { service: { faults: ["POST /v1/assets=reset-after"] } });
    const { code, result } = await at.apply();
    const [id = ""] = archives(at.service.state());
    expect(code).toBe(4);
    expect(outcomes(result)[0]?.message).toContain(`It was created: the audit log has an entry of this run`);
    expect(outcomes(result)[0]?.message).toContain(`Asset ${id} `);
    expect(result.bindings).toEqual({});
    const { plan } = await at.plan();
    expect(blockedSteps(plan)[0]?.message).toContain(`Asset ${id} `);
    expect(blockedSteps(plan)[0]?.command).toBe("dimsync resolve Asset/archive --created=ID");
  });

  it("of an asset that was not created: unknown without such an entry, until a user resolves it", async () => {
    const at = await scene(assetManifest(), { service: { faults: ["POST /v1/assets@1=reset-before"] } });
    expect(outcomes((await at.apply()).result)[0]).toMatchObject({ outcome: "unknown", message: expect.not.stringContaining("audit log") });
    expect((await at.apply()).code).toBe(4);
    expect(at.writes()).toEqual(["POST /v1/assets"]);
    expect((await at.run(["resolve", "Asset/archive", "--not-created"])).code).toBe(0);
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(Object.values(result.bindings)).toEqual(archives(at.service.state()));
  });

  it("of an asset whose run was killed on this machine: a user resolves it at once", async () => {
    const at = await scene(assetManifest());
    const intent = { runId: "run-1", address: "Asset/archive", kind: "Asset", method: "POST", path: "/v1/assets", bodyDigest: "x", at: "" };
    const process = { ...thisHolder(), pid: 2 ** 30 };
    const lease = {
      token: "a",
      runId: "run-1",
      runUrl: undefined,
      since: "",
      ttlMs: 60_000,
      epoch: 1,
      reason: undefined,
      until: undefined,
    };
    editRecords(at.folder, "test", ({ state }) => ({
      lease: { ...lease, holder: "", process },
      state: { ...state, open: [{ entryId: "e-1", ...intent }] },
    }));
    const { code, stderr } = await at.run(["resolve", "Asset/archive", "--not-created"]);
    expect(code, stderr).toBe(0);
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "create", address: "Asset/archive" }]);
  });

  it("of an integration that was not created: resolve --created refuses an id that the account does not have", async () => {
    const at = await scene(integrationManifest("returns"), { service: { faults: ["POST /v1/integrations@1=reset-before"] } });
    expect(outcomes((await at.apply()).result)[0]).toMatchObject({ outcome: "unknown" });
    const refused = await at.run(["resolve", "Integration/returns", "--created=nope"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('The account has no integration with the id "nope".')]);
    expect(refused.stderr).toContain("dimsync get integrations");
    const unreadable = await at.run(["resolve", "Integration/returns", "--created=8f1c"], { [keyVariable]: "" });
    expect([unreadable.code, unreadable.stderr]).toEqual([0, expect.stringContaining("could not be read, so it was not checked")]);
  });

  it("of an integration that a read shows: resolve --created records it, and refuses the id of another one", async () => {
    const at = await scene(integrationManifest("returns"), {
      service: { faults: ["POST /v1/integrations@1=reset-after", "GET /v1/integrations$@3=status:500"] },
      config: { client: { settleSeconds: 0, retries: 0, timeoutSeconds: 600 } },
    });
    expect(outcomes((await at.apply()).result)[0]).toMatchObject({ outcome: "unknown" });
    at.service.clearFaults();
    const refused = await at.run(["resolve", "Integration/returns", "--created=8f1c"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("E_OTHER_OBJECT")]);
    expect(refused.stderr).toContain(
      'was not created as "8f1c": that is "Orders", and the create was for destinationId "d-12", sourceName "returns-pg"',
    );
    expect(refused.stderr).toContain("\n  dimsync bind Integration/returns=8f1c\n");
    const [id = ""] = returns(at.service.state());
    const { code, stderr } = await at.run(["resolve", "Integration/returns", `--created=${id}`]);
    expect([code, stderr]).toEqual([0, `dimsync: Integration/returns was created and is bound to ${id}.\n`]);
  });

  it("of an asset: resolve --created refuses ids that belong to something else, and says what they are", async () => {
    const at = await scene(together(assetManifest(), assetManifest("vault").replace("vault }", "vault, id: d-99 }")), {
      service: { faults: ["POST /v1/assets=reset-after"] },
    });
    expect((await at.apply()).code).toBe(4);
    const [id = ""] = archives(at.service.state());
    const resolve = async (given: string) => (await at.run(["resolve", "Asset/archive", `--created=${given}`])).stderr;
    expect(await resolve("d-12")).toContain('was not created as "d-12": the integration "Orders" shows it as "Warehouse" (snowflake).');
    expect(await resolve("8f1c")).toContain('was not created as "8f1c": the list of integrations shows it as "Orders".');
    expect(await resolve("t-3")).toContain('was not created as "t-3": the list of tags shows it as "Gold".');
    expect(await resolve("d-99")).toContain('was not created as "d-99": that id is bound to Asset/vault.');
    expect(await resolve(id)).toContain(`dimsync: Asset/archive was created and is bound to ${id}.\n`);
  });

  it("is recorded by resolve --created with the digests of the request, like after a response", async () => {
    const at = await scene(assetManifest("archive", ", description: old files"), {
      service: { faults: ["POST /v1/assets@1=reset-after"] },
    });
    expect((await at.apply()).code).toBe(4);
    const [id = ""] = archives(at.service.state());
    expect((await at.run(["resolve", "Asset/archive", `--created=${id}`])).stderr).toContain(`was created and is bound to ${id}`);
    const { plan } = await at.plan();
    expect([readySteps(plan), blockedSteps(plan)]).toEqual([[], []]);
    at.write("manifests/all.yaml", assetManifest("archive", ", description: very old files"));
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "update", requests: [{ body: { description: "very old files" } }] }]);
  });

  it("is resolved by bind, too", async () => {
    const at = await scene(assetManifest(), { service: { faults: ["POST /v1/assets@1=reset-after"] } });
    await at.apply();
    const [id = ""] = archives(at.service.state());
    expect((await at.run(["bind", `Asset/archive=${id}`])).code).toBe(0);
    const { plan } = await at.plan();
    expect([readySteps(plan), blockedSteps(plan)]).toEqual([[], []]);
    expect((await at.run(["resolve", "Asset/archive", "--not-created"])).stderr).toContain("E_UNKNOWN_ADDRESS");
  });

  it("is still reported if its manifest is gone", async () => {
    const at = await scene(together(assetManifest(), tagManifest("the best")), { service: { faults: ["POST /v1/assets@1=reset-before"] } });
    await at.apply();
    at.write("manifests/all.yaml", tagManifest("the best"));
    expect(blockedSteps((await at.plan()).plan)).toMatchObject([{ address: "Asset/archive", code: "E_UNKNOWN_OUTCOME" }]);
  });
});

describe("a relation whose response is lost", () => {
  const related = tagManifest("the best", ", taggedBy: u-1, resources: [{ monitor: { id: m-1 } }]");

  it("is recovered if it exists", async () => {
    const at = await scene(related, { service: { faults: ["POST /v1/tags/t-3/relation=reset-after"] } });
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(endings(result)["relate Tag/gold#m-1"]).toBe("recovered");
  });

  it("is unknown if it does not exist, until a user resolves it, and is then sent", async () => {
    const at = await scene(related, { service: { faults: ["POST /v1/tags/t-3/relation@1=reset-before"] } });
    expect(endings((await at.apply()).result)["relate Tag/gold#m-1"]).toBe("unknown E_UNKNOWN_OUTCOME");
    expect(blockedSteps((await at.plan()).plan)).toMatchObject([{ address: "Tag/gold#m-1", code: "E_UNKNOWN_OUTCOME" }]);
    await at.run(["resolve", "Tag/gold#m-1", "--not-created"]);
    expect((await at.apply()).code).toBe(0);
    expect(at.service.state().tags.find(({ id }) => id === "t-3")?.relations).toHaveLength(1);
  });
});

describe("a relation that is refused", () => {
  const path = "/v1/tags/t-3/relation";
  const related = tagManifest("the best", ", taggedBy: u-1, resources: [{ monitor: { id: m-1 } }]");

  it.each([400, 409])("is recovered if someone else has added it a moment before (%d)", async (status) => {
    const at = await scene(related, {
      service: {
        faults: [`POST ${path}=status:${status}`],
        onExchange: ({ method }) => {
          if (method === "POST")
            at.service.mutate(
              ({ tags }) =>
                void tags.find(({ id }) => id === "t-3")?.relations.push({ resourceId: "m-1", resourceType: "Monitor", taggedBy: "u-1" }),
            );
        },
      },
    });
    const { code, result } = await at.apply();
    expect([code, endings(result)["relate Tag/gold#m-1"]]).toEqual([0, "recovered"]);
    expect(at.writes().filter((write) => write === `POST ${path}`)).toHaveLength(1);
  });

  it("because another request is at work, is sent again", async () => {
    const at = await scene(related, { service: { faults: [`POST ${path}@1=status:423`] } });
    expect((await at.apply()).code).toBe(0);
    expect(at.service.state().tags.find(({ id }) => id === "t-3")?.relations).toHaveLength(1);
  });

  it("for another reason, has failed, and no record is left open", async () => {
    const at = await scene(related, { service: { faults: [`POST ${path}@1=status:400`] } });
    expect(endings((await at.apply()).result)["relate Tag/gold#m-1"]).toBe("failed E_SERVICE_STATUS");
    expect((await at.apply()).code).toBe(0);
  });
});

describe("an audit log that cannot be read", () => {
  it.each<readonly [string, Meddle, string]>([
    ["because it is refused", ({ path }) => (path.startsWith("/v1/audit-logs") ? instead(403, {}) : undefined), "403"],
    [
      "because an entry has another form",
      ({ path }, answer) =>
        path.startsWith("/v1/audit-logs") ? { ...Object(answer), data: { totalItems: 1, items: [{ id: "e-1" }] } } : undefined,
      "/data/items/0/",
    ],
    [
      "because entries are missing",
      ({ path }, answer) => (path.startsWith("/v1/audit-logs") ? { ...Object(answer), data: { totalItems: 7, items: [] } } : undefined),
      "announces 7 entries and returned 0",
    ],
  ])("%s, blocks the create of an asset and nothing else", async (_, meddle, said) => {
    const at = await scene(together(assetManifest(), integrationManifest("returns"), tagManifest("the best")), { meddle });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(endings(result)).toEqual({
      "bind Tag/gold": "done",
      "create Asset/archive": "blocked E_READ_FAILED",
      "create Integration/returns": "done",
      "update Tag/gold": "done",
    });
    expect(outcomes(result).find(({ address }) => address === "Asset/archive")?.message).toContain(said);
    expect(at.writes()).not.toContain("POST /v1/assets");
  });
});

describe("lost records", () => {
  it("the bindings file: an asset that was created according to the journal is not created again", async () => {
    const at = await scene(assetManifest());
    await at.apply();
    rmSync(join(at.folder, "dimsync.bindings.yaml"));
    const [id = ""] = archives(at.service.state());
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(outcomes(result)).toMatchObject([{ outcome: "blocked", code: "E_UNBOUND", message: expect.stringContaining(id) }]);
    const { plan } = await at.plan();
    expect(blockedSteps(plan)[0]?.command).toBe(`dimsync bind Asset/archive=${id}`);
    expect(archives(at.service.state())).toHaveLength(1);
  });

  it("the bindings file: an integration is found again", async () => {
    const at = await scene(integrationManifest("returns"));
    const { bindings } = (await at.apply()).result;
    rmSync(join(at.folder, "dimsync.bindings.yaml"));
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(result.bindings).toEqual(bindings);
    expect(result.calls.sent).not.toHaveProperty("POST");
  });

  it("the journal, but not the bindings: nothing is missing", async () => {
    const at = await scene(together(assetManifest(), integrationManifest("returns")));
    await at.apply();
    rmSync(join(at.folder, ".dimsync"), { recursive: true });
    expect(outcomes((await at.apply()).result)).toEqual([]);
  });

  it("by unbind, on purpose: then another one may be created", async () => {
    const at = await scene(assetManifest());
    await at.apply();
    expect((await at.run(["unbind", "Asset/archive"])).code).toBe(0);
    expect((await at.apply()).code).toBe(0);
    expect(archives(at.service.state())).toHaveLength(2);
  });

  it("another user binds an id during the run: no create", async () => {
    const at = await scene(assetManifest());
    expect((await at.run(["plan", "--out", "plan.json"])).code).toBe(0);
    expect((await at.run(["bind", "Asset/archive=d-13"])).code).toBe(0);
    expect((await at.apply("plan.json")).code).toBe(5);
    expect(at.writes()).toEqual([]);
  });
});

it("the next run closes the journal if a run was killed between binding and journal", async () => {
  const at = await scene(assetManifest());
  await at.apply();
  editRecords(at.folder, "test", unsettled);
  expect((await at.apply()).code).toBe(0);
  const { open, created } = recordsIn(at.folder, "test").state;
  expect([open, [...created.keys()]]).toEqual([[], ["Asset/archive"]]);
});

it("the id is in the journal before it is in the bindings: the next run continues one that was killed in between", async () => {
  const at = await scene(assetManifest("archive", ", description: old files"));
  await at.apply();
  const [id = ""] = archives(at.service.state());
  const sent = await openBindings(join(at.folder, "dimsync.bindings.yaml"), "test").read();
  editRecords(at.folder, "test", (content) => unsettled(content, sent));
  rmSync(join(at.folder, "dimsync.bindings.yaml"));
  const { code, result } = await at.apply();
  expect({ code, endings: endings(result), bindings: result.bindings }).toEqual({
    code: 0,
    endings: { "bind Asset/archive": "done" },
    bindings: { "Asset/archive": id },
  });
  expect((await at.plan()).plan).toMatchObject({ steps: [] });
});

it("an id that could not be written to the bindings file is printed, kept in the journal, and bound by the next run", async () => {
  const at = await scene(assetManifest(), {
    service: {
      onExchange: ({ method }) => {
        // Damaged while the create is in flight: dimsync never overwrites an invalid bindings file.
        if (method === "POST") at.write("dimsync.bindings.yaml", "{");
      },
    },
  });
  const { code, result } = await at.apply();
  const [id = ""] = archives(at.service.state());
  expect(code).toBe(4);
  expect(outcomes(result)).toMatchObject([{ outcome: "done", liveId: id }]);
  expect(diagnosticsOf(result)).toMatchObject([
    {
      code: "E_RECORDS_REFUSED",
      message: expect.stringContaining(id),
      command: expect.stringContaining(`dimsync bind Asset/archive=${id} -t `),
    },
  ]);
  rmSync(join(at.folder, "dimsync.bindings.yaml"));
  const next = await at.apply();
  expect({ code: next.code, bindings: next.result.bindings }).toEqual({ code: 0, bindings: { "Asset/archive": id } });
  expect(archives(at.service.state())).toEqual([id]);
});
