// What the service answers beside the forms of the interface document, and what a run makes of it.

import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/core/base/model/json/json.ts";
import { type EmbeddedOptions, type StoredSchema, seedAccount } from "../../../src/embedded/index.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { blockedSteps, outcomes, readySteps, unseenSteps } from "../../support/steps.ts";
import {
  assetManifest,
  endings,
  integrationManifest,
  type Meddle,
  ordersManifest,
  scene,
  schemaManifest,
  tagManifest,
  together,
} from "./scene.ts";

const hashesEmail = together(
  ordersManifest,
  schemaManifest("orders", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }"),
);
const orders = "update Schemas/orders";

/** The service as observed, with the ids that the manifests name. */
const observed = (more: EmbeddedOptions = {}): { readonly service: EmbeddedOptions } => ({
  service: { observed: true, state: seedAccount(), ids: "short", ...more },
});

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

  it("of columns that must be hashed: sent once, then unseen until it is given up", async () => {
    const at = await scene(hashesEmail, { meddle: ofSchemas((key) => key === "hashed") });
    const first = await at.apply();
    expect([first.code, endings(first.result)[orders]]).toEqual([0, "done"]);
    const { plan } = await at.plan();
    expect(readySteps(plan)).toEqual([]);
    expect(unseenSteps(plan)).toContainEqual({
      address: "Schemas/orders",
      paths: ["/schemas/public/tables/customers/columns/email/hashed"],
      reason: "the service does not show the value, and dimsync has sent it",
    });
    // Given up and wanted again: somebody may have unhashed it meanwhile.
    at.write("manifests/all.yaml", hashesEmail.replace("hashed: true", "hashed: false"));
    expect((await at.apply()).code).toBe(0);
    at.write("manifests/all.yaml", hashesEmail);
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ address: "Schemas/orders", verb: "update" }]);
  });

  it("of schemas that must be disabled: sent once with --protect-only, too", async () => {
    const tree =
      "{ public: { enabled: false, tables: { customers: { columns: { email: { hashed: true }, phone: { hashed: false } } } } } }";
    const at = await scene(together(ordersManifest, schemaManifest("orders", tree)), { service: { observed: true } });
    at.service.mutate(({ integrations: [first] }) =>
      Object.assign(first?.schemas["public"]?.tables["customers"]?.columns["phone"] ?? {}, { hashed: true }),
    );
    expect(endings((await at.apply("--protect-only")).result)[orders]).toBe("done");
    expect(readySteps((await at.plan("--protect-only")).plan)).toEqual([]);
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
    expect([code, readySteps(plan).filter(({ verb }) => verb === "update"), unseenSteps(plan).map(({ paths }) => paths)]).toEqual([
      0,
      [],
      [["/schemas/public/tables/customers/columns/email/hashed"]],
    ]);
  });
});

describe("a create, with the service as observed", () => {
  const returnsSchemas = schemaManifest("returns", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }");

  it("that fails after it was answered: blocked with the service's words and the way out, and nothing else waits", async () => {
    const failure = "The replication slot s1 does not exist.";
    const at = await scene(together(integrationManifest("returns"), returnsSchemas, tagManifest("the best")), {
      ...observed({
        onExchange: ({ method, path }) => {
          if (method === "POST" && path === "/v1/integrations")
            at.service.mutate(({ integrations }) => Object.assign(integrations.at(-1) ?? {}, { failure }));
        },
      }),
    });
    const { code, result } = await at.apply();
    expect([code, endings(result)["create Integration/returns"], endings(result)["update Tag/gold"]]).toEqual([
      4,
      "failed E_CREATION_FAILED",
      "done",
    ]);
    at.write("manifests/all.yaml", together(integrationManifest("returns"), returnsSchemas, integrationManifest("refunds")));
    const { plan } = await at.plan();
    expect([plan.complete, readySteps(plan).map(({ verb, address }) => `${verb} ${address}`)]).toEqual([
      true,
      ["create Integration/refunds"],
    ]);
    expect(blockedSteps(plan)[0]).toMatchObject({ code: "E_CREATION_FAILED", message: expect.stringContaining(failure) });
  });

  it.each(["error-200", "error-200:ok"])(
    "that is answered with 200 and an error (%s): failed, nothing is left open, and the next run sends it once",
    async (fault) => {
      const manifests = together(integrationManifest("returns"), assetManifest());
      const at = await scene(manifests, observed({ faults: [`POST /v1/integrations$@1=${fault}`, `POST /v1/assets$@1=${fault}`] }));
      const { code, result } = await at.apply();
      expect([code, Object.values(endings(result))]).toEqual([4, ["failed E_SERVICE_STATUS", "failed E_SERVICE_STATUS"]]);
      expect((await at.apply()).code).toBe(0);
      expect(at.writes().filter((write) => write === "POST /v1/assets")).toHaveLength(2);
    },
  );

  it("with an existing source, whose response is lost: found by source, destination and schema", async () => {
    const manifest = `
apiVersion: dimsync/v1
kind: Integration
metadata: { name: copy }
spec:
  destination: { id: d-13 }
  create: { sourceId: s-1, destinationSchema: copy, replicationFrequency: '60' }
`;
    const at = await scene(manifest, observed({ faults: ["POST /v1/integrations$@1=reset-after"] }));
    const before = at.service.state().integrations.map(({ id }) => id);
    const { code, result } = await at.apply();
    const [made] = at.service.state().integrations.filter(({ id }) => !before.includes(id));
    expect([code, endings(result)["create Integration/copy"], result.bindings]).toEqual([0, "recovered", { "Integration/copy": made?.id }]);
    expect(readySteps((await at.plan("--detailed-exitcode")).plan)).toEqual([]);
  });
});

describe("the response to a PATCH", () => {
  it("of an asset with another id: refused, and the next plan has the change again", async () => {
    const at = await scene(assetManifest(), {
      service: { observed: true },
      meddle: ({ method }, answer) => (method === "PATCH" ? { ...Object(answer), data: { id: "650000000000000000000099" } } : undefined),
    });
    expect((await at.apply()).code).toBe(0);
    at.write("manifests/all.yaml", assetManifest("archive", ", description: old files"));
    const { code, result } = await at.apply();
    expect([code, endings(result)]).toEqual([4, { "update Asset/archive": "failed E_MALFORMED_ANSWER" }]);
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "update", requests: [{ body: { description: "old files" } }] }]);
  });

  it.each<readonly [string, (schema: StoredSchema) => void, string | undefined]>([
    [
      "a table with a readable column",
      ({ tables }) => Object.assign(tables, { people: { ...tables["orders"], columns: { ssn: readable } } }),
      "tables/people/columns/ssn",
    ],
    ["a readable column", ({ tables }) => Object.assign(tables["orders"]?.columns ?? {}, { ssn: readable }), "tables/orders/columns/ssn"],
    ["a hashed column", ({ tables }) => Object.assign(tables["orders"]?.columns ?? {}, { ssn: { ...readable, hashed: true } }), undefined],
  ])("of schemas with %s that the plan did not show", async (_, add, named) => {
    const at = await scene(hashesEmail, {
      ...observed(),
      meddle: ({ method, path }, answer) => {
        if (method !== "PATCH" || !path.endsWith("/schemas")) return undefined;
        const shown = structuredClone(answer) as { readonly data: { readonly schemas: Readonly<Record<string, StoredSchema>> } }; // of the embedded service
        add(shown.data.schemas["public"] as StoredSchema); // the seed has it
        return shown;
      },
    });
    const { code, result } = await at.apply();
    const said = outcomes(result).find(({ code: why }) => why === "E_UNINTENDED_CHANGE")?.message ?? "";
    expect([code, said.includes("columns appeared")]).toEqual(named === undefined ? [0, false] : [4, true]);
    expect(said).toContain(named ?? "");
  });
});

const readable = { nameInDestination: "ssn", enabled: true, hashed: false, isPrimaryKey: false };

describe("what the service does not show", () => {
  it("of several drafts, is one warning", async () => {
    const at = await scene(ordersManifest, { service: { observed: true } });
    const warnings = async () =>
      diagnosticsOf((await at.plan()).plan).map(({ code, message }) => `${code} ${message.replaceAll(/\([0-9a-f]{24}\)/gu, "(ID)")}`);
    const rest = "dimsync compares only what the service shows.";
    expect(await warnings()).toEqual([
      `W_ENTRY_UNREAD GET /v1/integrations shows no destination of "Untitled" (ID). It may be a draft. ${rest}`,
    ]);
    at.service.mutate(({ integrations }) => {
      const [draft] = integrations.filter(({ kind }) => kind === "draft");
      if (draft !== undefined) integrations.push({ ...structuredClone(draft), id: "650000000000000000000009", name: "Second" });
    });
    expect(await warnings()).toEqual([
      `W_ENTRY_UNREAD GET /v1/integrations shows no destination of "Untitled" (ID), "Second" (ID). They may be drafts. ${rest}`,
    ]);
  });

  it("of a cursor: a warning if a column that could be it is disabled", async () => {
    const tree = "{ public: { tables: { payments: { columns: { paid_at: { enabled: false } } } } } }";
    const at = await scene(together(ordersManifest, schemaManifest("orders", tree)), { service: { observed: true } });
    expect(diagnosticsOf((await at.plan()).plan).map(({ code }) => code)).toContain("W_CURSOR_UNKNOWN");
  });

  it.each([
    ["Change Stream", false],
    ["Change Straem", true],
  ])(
    "as the user interface spells it, the sync mode %s, is compared, and a warning has the spellings of the service",
    async (mode, isUnknown) => {
      const config = `
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: orders, rules: [{ match: { table: customers, column: email, where: { syncMode: ${mode} } }, set: { hashed: true } }] }
`;
      const at = await scene(together(ordersManifest, config), observed());
      at.service.mutate(({ integrations: [first] }) =>
        Object.assign(first?.schemas["public"]?.tables["customers"] ?? {}, { syncMode: "Change Stream" }),
      );
      const { plan } = await at.plan();
      const [warning] = diagnosticsOf(plan).filter(({ code }) => code === "W_NO_MATCH");
      expect(readySteps(plan).some(({ address }) => address.startsWith("Schemas/"))).toBe(!isUnknown);
      if (isUnknown) expect(warning?.message).toContain("The tables have the sync modes CHANGE_STREAM,");
      else expect(warning).toBeUndefined();
    },
  );

  it("of a new integration's schema that must be enabled: not sent, and each run says what to do", async () => {
    const manifests = together(integrationManifest("returns"), schemaManifest("returns", "{ public: { enabled: true } }"));
    const at = await scene(manifests, observed());
    expect((await at.apply()).code).toBe(0);
    const { plan } = await at.plan();
    expect(unseenSteps(plan)).toContainEqual({
      address: "Schemas/returns",
      paths: ["/schemas/public/enabled"],
      reason: expect.stringContaining("Set it in the service"),
    });
  });
});
