// An update is verified by what the service shows, and what it does not show is said.
import { describe, expect, it } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { apply, loadProject } from "../../../src/index.ts";
import { notKeptSteps, outcomes, readySteps, unseenSteps } from "../../support/steps.ts";
import {
  assetManifest,
  endings,
  instead,
  integrationManifest,
  type Meddle,
  ordersManifest,
  scene,
  schemaManifest,
  tagManifest,
  together,
} from "./scene.ts";

const twoPatches = together(
  ordersManifest,
  schemaManifest(
    "orders",
    "{ public: { tables: { customers: { columns: { email: { hashed: true } } }, payments: { columns: { iban: { hashed: false } } } } } }",
  ),
);
const hashesEmail = together(
  ordersManifest,
  schemaManifest("orders", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }"),
);
const orders = "update Schemas/orders";

interface Body {
  data: { schemas: { public: { tables: { customers: { enabled: boolean; columns: Record<string, { hashed: boolean }> } } } } };
}

/** After the first PATCH, responses about schemas show this value for a column of `customers`, whatever it is. `only`: those to this method. */
const answering = (column: string, hashed: boolean, only?: string): Meddle => {
  let isSent = false;
  return ({ method, path }, answer) => {
    isSent ||= method === "PATCH";
    if (!isSent || !path.endsWith("/schemas") || (only !== undefined && method !== only)) return undefined;
    const body = answer as Body;
    Object.assign(body.data.schemas.public.tables.customers.columns[column] ?? {}, { hashed });
    return body;
  };
};

describe("a PATCH that the service refuses as too large", () => {
  const hashing = (columns: string) => together(ordersManifest, schemaManifest("orders", `{ public: { tables: ${columns} } }`));

  it("is halved between tables, and the run sends no larger one", async () => {
    const columns = "{ columns: { email: { hashed: true } } }";
    const at = await scene(hashing(`{ customers: ${columns}, users: ${columns} }`), {
      service: { faults: ["PATCH /v1/integrations@1=status:413"] },
    });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([0, "done"]);
    expect(at.writes()).toHaveLength(3);
    expect(outcomes((await at.apply()).result)).toEqual([]);
  });

  it("fails if it has one table", async () => {
    const at = await scene(hashesEmail, { service: { faults: ["PATCH /v1/integrations@1=status:413"] } });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([4, "failed E_SERVICE_STATUS"]);
    expect(outcomes(result).at(-1)?.message).toContain("the request body is too large");
    expect(at.writes()).toHaveLength(1);
  });
});

describe("the response to a PATCH", () => {
  it("without a desired value is E_NOT_CONVERGED with its path, exit 4, and the second PATCH is not sent", async () => {
    const at = await scene(twoPatches, {
      meddle: answering("email", false),
    });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(endings(result)[orders]).toBe("not-converged E_NOT_CONVERGED");
    expect(outcomes(result).at(-1)?.message).toContain("/schemas/public/tables/customers/columns/email/hashed");
    expect(at.writes()).toHaveLength(1);
  });

  it.each([
    ["a desired value", "email", false],
    ["the values of other nodes", "phone", true],
  ])("that does not show %s is followed by a read, which decides", async (_what, column, hashed) => {
    const at = await scene(twoPatches, { meddle: answering(column, hashed, "PATCH") });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([0, "done"]);
    expect(at.writes()).toHaveLength(2);
  });

  /** The response to PATCH is this one, and the first `late` reads after it show the state before. */
  const lagging = (late: number, patched?: unknown): Meddle => {
    let before: unknown;
    let left: number | undefined;
    return ({ method, path }, answer) => {
      if (!path.endsWith("/schemas")) return undefined;
      if (method === "PATCH") {
        left ??= late;
        return patched ?? before;
      }
      if (left !== undefined) return left-- > 0 ? before : undefined;
      before = structuredClone(answer);
      return undefined;
    };
  };
  const accepted = instead(202, { code: "accepted", message: "The change is being applied", data: { jobId: "j-1" } });

  it.each<readonly [string, unknown]>([
    ["shows the state before", undefined],
    ["is 202 without the schemas", accepted],
    ["has a body without the schemas", instead(200, { code: "success", message: "ok", data: { ok: true } })],
  ])("that %s is followed by reads for settleSeconds, and nothing is sent again", async (_what, patched) => {
    const at = await scene(hashesEmail, { meddle: lagging(5, patched) });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([0, "done"]);
    expect(at.writes()).toHaveLength(1);
  });

  it("that is 202, without an effect in that time, is accepted and not visible yet, with the words of the service", async () => {
    const at = await scene(hashesEmail, { meddle: lagging(99, accepted), config: { client: { retries: 2 } } });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([4, "not-converged E_NOT_CONVERGED"]);
    expect(outcomes(result).at(-1)?.message).toMatch(/^Accepted, not visible yet: .*202.*The change is being applied/u);
    expect(at.writes()).toHaveLength(1);
  });

  it("is not needed: an empty one is followed by a read", async () => {
    const at = await scene(twoPatches, { meddle: ({ method }) => (method === "PATCH" ? "" : undefined) });
    expect((await at.apply()).code).toBe(0);
    expect(at.writes()).toHaveLength(2);
  });

  it("without a part of the desired values separates what the account has from what it does not have", async () => {
    const both =
      "{ public: { tables: { customers: { columns: { email: { hashed: true }, phone: { hashed: true } } }, payments: { columns: { iban: { hashed: false } } } } } }";
    const at = await scene(together(ordersManifest, schemaManifest("orders", both)), { meddle: answering("email", false) });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    const ended = outcomes(result).filter(({ address, verb }) => address === "Schemas/orders" && verb === "update");
    expect(ended.map((item) => [item.outcome, [...eachChange(item)].map(({ path }) => path)])).toEqual([
      ["done", ["/schemas/public/tables/customers/columns/phone/hashed"]],
      ["not-converged", ["/schemas/public/tables/customers/columns/email/hashed", "/schemas/public/tables/payments/columns/iban/hashed"]],
    ]);
  });

  it("with another changed node is E_UNINTENDED_CHANGE with its path", async () => {
    const at = await scene(twoPatches, {
      meddle: answering("phone", true),
    });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(endings(result)[orders]).toBe("not-converged E_UNINTENDED_CHANGE");
    expect(outcomes(result).at(-1)?.message).toContain("/schemas/public/tables/customers/columns/phone/hashed");
  });
});

describe("a value that the service accepts and does not keep", () => {
  const path = "/schemas/public/tables/customers/columns/email/hashed";
  const email = "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }";

  it("is sent by every apply if it protects, named by every run, and never ends with exit 0", async () => {
    const at = await scene(together(ordersManifest, schemaManifest("orders", email)), { meddle: answering("email", false) });
    // Once may be a slow read or a lost request.
    const first = await at.apply();
    expect([first.code, notKeptSteps(first.result)]).toEqual([4, []]);
    expect(notKeptSteps((await at.plan()).plan)).toEqual([]);
    expect((await at.apply()).code).toBe(4);
    const known = [{ address: "Schemas/orders", path, wanted: true, live: false, since: expect.any(String) }];
    const { plan } = await at.plan();
    expect([readySteps(plan), notKeptSteps(plan)]).toMatchObject([[{ address: "Schemas/orders" }], known]);
    const again = await at.apply();
    expect([again.code, notKeptSteps(again.result)]).toEqual([4, known]);
    expect(at.writes()).toHaveLength(3);
    const { since } = notKeptSteps(plan)?.[0] ?? {};
    expect(notKeptSteps((await at.plan()).plan)).toMatchObject([{ since }]);
    const drift = await at.run(["drift", "-o", "json"]);
    expect([drift.code, notKeptSteps(JSON.parse(drift.stdout))]).toEqual([2, known]);
  });

  it("is named no more by the run in which the service keeps it, and then forgotten", async () => {
    const ignoring = answering("email", false);
    let patches = 0;
    let isChanged = false;
    const at = await scene(together(ordersManifest, schemaManifest("orders", email)), {
      meddle: (request, answer) => {
        if (request.method === "PATCH") patches++;
        return patches > 2 && !isChanged ? undefined : ignoring(request, answer);
      },
    });
    await at.apply();
    await at.apply();
    const { plan } = await at.plan();
    expect([readySteps(plan), notKeptSteps(plan)]).toMatchObject([[{ address: "Schemas/orders" }], [{ path }]]);
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders], notKeptSteps(result)]).toEqual([0, "done", []]);
    isChanged = true;
    expect(notKeptSteps((await at.plan()).plan)).toEqual([]);
  });

  /** After the first PUT, responses show this description of the tag t-3. */
  const describing = (shown: { description: string }): Meddle => {
    let isSent = false;
    const changed = (_key: string, value: { readonly id?: unknown } | null) => (value?.id === "t-3" ? { ...value, ...shown } : value);
    return ({ method }, answer) => {
      isSent ||= method === "PUT";
      return isSent ? JSON.parse(JSON.stringify(answer), changed) : undefined;
    };
  };

  it.each<readonly [what: string, changed: { readonly manifest?: string; readonly live?: string }, items: number]>([
    ["not planned again", {}, 0],
    ["planned again after the manifest changed", { manifest: "better" }, 1],
    ["planned again after the account changed", { live: "from someone else" }, 1],
  ])("is %s: of a tag", async (_what, { manifest = "best", live = "good" }, items) => {
    const shown = { description: "good" };
    const at = await scene(tagManifest("best"), { meddle: describing(shown) });
    expect((await at.apply()).code).toBe(4);
    expect(readySteps((await at.plan()).plan)).toHaveLength(1);
    expect((await at.apply()).code).toBe(4);
    at.write("manifests/all.yaml", tagManifest(manifest));
    shown.description = live;
    const { plan } = await at.plan();
    expect(readySteps(plan)).toHaveLength(items);
    expect(notKeptSteps(plan)).toHaveLength(1 - items);
  });

  it("is equal after one answer if only white space at the end differs", async () => {
    const at = await scene(tagManifest('"best\\n"'), { meddle: describing({ description: "best" }) });
    await at.apply();
    const { plan } = await at.plan();
    expect([readySteps(plan), notKeptSteps(plan)]).toEqual([[], []]);
    expect((await at.run(["drift"])).code).toBe(0);
    expect(at.writes()).toHaveLength(1);
  });
});

const withoutOnSchemaUpdate: Meddle = ({ path }, answer) =>
  path.startsWith("/v1/integrations")
    ? JSON.parse(JSON.stringify(answer, (member, value) => (member === "onSchemaUpdate" ? undefined : value)))
    : undefined;

it("an onSchemaUpdate that protects, that no read shows and that a create has sent is not sent again", async () => {
  const manifest = integrationManifest("copy")
    .replace("metadata:", "lifecycle: { create: ifMissing }\nmetadata:")
    .replace("spec:\n", "spec:\n  settings: { onSchemaUpdate: ignoreAll }\n");
  const config = { service: { extended: true, lists: "complete" } };
  const at = await scene(manifest, { meddle: withoutOnSchemaUpdate, config });
  expect((await at.apply()).code).toBe(0);
  expect((await at.apply()).code).toBe(0);
  expect(at.writes()).toEqual(["POST /v1/integrations"]);
});

it("an onSchemaUpdate that protects and that no read shows is sent by one apply", async () => {
  const manifest = ordersManifest.replace(
    "{ match: { name: Orders } }",
    "{ match: { name: Orders }, settings: { onSchemaUpdate: ignoreAll } }",
  );
  const at = await scene(manifest, { meddle: withoutOnSchemaUpdate, config: { service: { extended: true } }, service: { observed: true } });
  const first = await at.apply("--protect-only");
  expect([first.code, endings(first.result)["update Integration/orders"]]).toEqual([0, "done"]);
  expect((await at.apply()).code).toBe(0);
  expect(at.writes()).toEqual([expect.stringMatching(/^PATCH \/v1\/integrations\/\w+$/u)]);
  expect(at.service.state().integrations.find(({ name }) => name === "Orders")).toMatchObject({
    settings: { onSchemaUpdate: "ignoreAll" },
  });
  expect(unseenSteps((await at.plan()).plan)).toMatchObject([{ address: "Integration/orders", paths: ["/onSchemaUpdate"] }]);
});

describe("a PUT or PATCH that is refused because another request is at work", () => {
  const path = "/v1/tags/t-3";
  it.each([409, 423, 425])("is sent again after a read: %d", async (status) => {
    const at = await scene(tagManifest("the best"), { service: { faults: [`PUT ${path}@1=status:${status}`] } });
    expect((await at.apply()).code).toBe(0);
    expect(at.writes()).toEqual([`PUT ${path}`, `PUT ${path}`]);
  });

  it("fails when the time is over", async () => {
    const at = await scene(tagManifest("the best"), { service: { faults: [`PUT ${path}=status:409`] } });
    const { code, result } = await at.apply();
    expect([code, endings(result)["update Tag/gold"]]).toEqual([4, "failed E_SERVICE_STATUS"]);
    expect(at.writes().length).toBeGreaterThan(2);
  });
});

describe("a PATCH that is refused because the service still creates the integration", () => {
  const inCreation = instead(409, { code: "IntegrationInCreation", message: "Orders is still in creation." });
  const meddle: Meddle = ({ status }) => (status === 409 ? inCreation : undefined);
  const fault = "PATCH /v1/integrations/8f1c/schemas";
  const client = { timeoutSeconds: 600, settleSeconds: 0, schemaWaitSeconds: 3 };

  it("is sent again for as long as apply waits for schemas, not for settleSeconds", async () => {
    const at = await scene(hashesEmail, { config: { client }, meddle, service: { faults: [`${fault}@1=status:409`] } });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([0, "done"]);
    expect(at.writes()).toHaveLength(2);
  });

  it("waits with the service's words when that time is over", async () => {
    const at = await scene(hashesEmail, {
      config: { client: { ...client, schemaWaitSeconds: 0 } },
      meddle,
      service: { faults: [`${fault}=status:409`] },
    });
    const { code, result } = await at.apply();
    expect([code, endings(result)[orders]]).toEqual([4, "waits E_STILL_WAITING"]);
    expect(outcomes(result).at(-1)?.message).toContain("Orders is still in creation.");
  });
});

describe("an asset that is answered without a body", () => {
  const secret = ", connection: { bucket: b, password: { $secret: { env: PASSWORD } } }, secretVersion: ";
  it("is done, the result says that there is no proof, and the secret is sent once", async () => {
    const at = await scene(assetManifest("archive", `${secret}1`), {
      env: { PASSWORD: "hunter-2-hunter" },
      meddle: ({ method }) => (method === "PATCH" ? "" : undefined),
    });
    expect((await at.apply()).code).toBe(0);
    at.write("manifests/all.yaml", assetManifest("archive", `${secret}2`));
    const { code, result } = await at.apply();
    expect([code, outcomes(result)[0]?.outcome]).toEqual([0, "done"]);
    expect(outcomes(result)[0]?.message).toContain("empty response");
    expect(at.writes()).toEqual(["POST /v1/assets", expect.stringContaining("PATCH /v1/assets/")]);
  });
});

describe("a PUT or PATCH whose outcome is unclear", () => {
  it("is not sent again if the account has the values", async () => {
    const at = await scene(tagManifest("the best"), { service: { faults: ["PUT /v1/tags/t-3=reset-after"] } });
    expect((await at.apply()).code).toBe(0);
    expect(at.writes()).toEqual(["PUT /v1/tags/t-3"]);
  });

  it("is sent again if it does not", async () => {
    const at = await scene(tagManifest("the best"), {
      service: { faults: ["PUT /v1/tags/t-3@1=reset-before"] },
      config: { client: { retries: 2, timeoutSeconds: 600 } },
    });
    expect((await at.apply()).code).toBe(0);
    expect(at.writes()).toEqual(["PUT /v1/tags/t-3", "PUT /v1/tags/t-3"]);
  });

  it("is not sent again if someone else has changed the same value meanwhile", async () => {
    const at = await scene(tagManifest("the best"), {
      service: {
        faults: ["PUT /v1/tags/t-3=reset-before"],
        onExchange: ({ method }) => {
          if (method === "PUT")
            at.service.mutate(({ tags }) => {
              for (const tag of tags) if (tag.id === "t-3") tag.description = "by hand";
            });
        },
      },
      config: { client: { retries: 2, timeoutSeconds: 600 } },
    });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(endings(result)["update Tag/gold"]).toBe("failed E_KEEPS_CHANGING");
    expect(at.writes()).toEqual(["PUT /v1/tags/t-3"]);
    expect(at.service.state().tags.find(({ id }) => id === "t-3")?.description).toBe("by hand");
  });

  it("if the read fails too, the failure of the write is reported, and that its outcome is unknown", async () => {
    const at = await scene(tagManifest("the best"), {
      service: { faults: ["PUT /v1/tags/t-3=reset-after", "GET /v1/tags/t-3@2=status:500"] },
    });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(outcomes(result).at(-1)).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("It is not known whether the service acted on it"),
    });
    at.service.clearFaults();
    expect((await at.apply()).code).toBe(0);
    expect(at.service.counts()["PUT"]).toBe(1);
  });
});

describe("an object that changes between plan and write, without a saved plan", () => {
  const changing = (times: number) => {
    let left = times;
    return scene(tagManifest("the best"), {
      service: {
        onExchange: ({ method, path }) => {
          // A change follows each list of tags, so the plan is stale when the tag is read again.
          if (method === "GET" && path === "/v1/tags" && left-- > 0) void Promise.resolve().then(() => hand(`by hand ${left}`));
        },
      },
    }).then((at) => {
      hand = (description) =>
        at.service.mutate(({ tags }) => {
          for (const tag of tags) if (tag.id === "t-3") tag.description = description;
        });
      return at;
    });
  };
  let hand: (description: string) => void = () => undefined;

  it("is planned again and written", async () => {
    const at = await changing(1);
    const { code, result } = await at.apply();
    expect({ code, endings: endings(result) }).toMatchObject({ code: 0, endings: { "update Tag/gold": "done" } });
    expect(at.service.state().tags.find(({ id }) => id === "t-3")?.description).toBe("the best");
  });

  it("repeatedly, ends with exit 4", async () => {
    const at = await changing(50);
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(endings(result)["update Tag/gold"]).toBe("skipped E_KEEPS_CHANGING");
    expect(outcomes(result).at(-1)?.message).toContain("It was planned again 3 times.");
    expect(at.writes()).toEqual([]);
  });
});

describe("partial failure", () => {
  const both = together(assetManifest("archive"), assetManifest("attic"), tagManifest("the best"));

  it("items that do not depend on it continue", async () => {
    const at = await scene(both, { service: { faults: ["POST /v1/assets@1=status:400"] } });
    const { code, result } = await at.apply();
    expect({ code, endings: endings(result) }).toEqual({
      code: 4,
      endings: {
        "create Asset/archive": "failed E_SERVICE_STATUS",
        "create Asset/attic": "done",
        "bind Tag/gold": "done",
        "update Tag/gold": "done",
      },
    });
  });
});

describe("an interruption between two requests of one item", () => {
  it("does not converge, and the message says which requests were sent", async () => {
    const controller = new AbortController();
    const at = await scene(twoPatches, {
      service: { onExchange: ({ method }) => (method === "PATCH" ? controller.abort() : undefined) },
    });
    const project = await loadProject({ cwd: at.folder, env: at.env });
    const result = await apply(project, { env: at.env, signal: controller.signal });
    expect(at.writes()).toHaveLength(1);
    expect(result.exit.code).toBe(130);
    expect(outcomes(result).at(-1)).toMatchObject({ outcome: "not-converged", code: "E_INTERRUPTED" });
    expect(outcomes(result).at(-1)?.message).toBe(
      "The run was interrupted after 1 of its 2 requests. Sent and verified: PATCH /v1/integrations/8f1c/schemas. Not sent: PATCH /v1/integrations/8f1c/schemas. Run plan to see what is left.",
    );
  });
});
