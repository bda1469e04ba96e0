// Every write that is answered with 202, in each form of such an answer, is sent once, and its effect is read.
import { describe, expect, it } from "vitest";
import { seedAccount } from "../../../src/embedded/index.ts";
import { blockedSteps, outcomes, readySteps } from "../../support/steps.ts";
import { assetManifest, endings, instead, integrationManifest, type Meddle, scene, schemaManifest, together } from "./scene.ts";

const words = "The change is being applied";
const forms = {
  "no body": instead(202),
  "words and a job": instead(202, { code: "accepted", message: words, data: { jobId: "j-1" } }),
  "the id of a job": instead(202, { code: "accepted", message: words, data: { id: "j-1" } }),
  "data that is null": instead(202, { code: "accepted", message: words, data: null }),
  "a bare status": instead(202, { status: "pending" }),
};

const manifest = (kind: string, name: string, rest: string): string => `
apiVersion: dimsync/v1
kind: ${kind}
metadata: { name: ${name} }
${rest}
`;

const manifests = (extended: boolean): string =>
  together(
    manifest(
      "Integration",
      "orders",
      `spec: { match: { name: Orders }${extended ? ", settings: { onSchemaUpdate: pauseConnection }" : ""} }`,
    ),
    integrationManifest("returns"),
    schemaManifest("orders", "{ public: { tables: { customers: { columns: { email: { hashed: true } } } } } }"),
    assetManifest("archive"),
    manifest("Asset", "lake, id: d-13", "spec: { name: Lake, type: s3, description: new }"),
    manifest(
      "Tag",
      "pii",
      `spec: { name: PII, description: changed, owner: u-1, taggedBy: u-1, exclusive: true, resources: [{ integration: orders }, { integration: { id: b27d } }] }`,
    ),
    ...(extended ? [manifest("Tag", "new", "lifecycle: { create: ifMissing }\nspec: { name: New, owner: u-1 }")] : []),
  );

describe.each([false, true])("every write that is answered with 202 (observed: %s)", (observed) => {
  it.each(Object.entries(forms))("and %s", async (_form, form) => {
    const meddle: Meddle = ({ method, status }) => (method !== "GET" && status < 300 ? form : undefined);
    const at = await scene(manifests(observed), {
      service: { observed, ids: "short", state: seedAccount() },
      config: { service: { extended: observed }, client: { settleSeconds: 1 }, guards: { maxChangedPercent: 100 } },
      meddle,
    });
    const { result } = await at.apply();
    expect(endings(result)).toEqual({
      // No list shows assets, and the id is not that of one.
      "create Asset/archive": "unknown E_UNKNOWN_OUTCOME",
      "update Asset/lake": "done",
      "bind Integration/orders": "done",
      "create Integration/returns": "recovered",
      "update Schemas/orders": "done",
      "bind Tag/pii": "done",
      "update Tag/pii": "done",
      "relate Tag/pii#b27d": "done",
      ...(observed ? { "update Integration/orders": "done", "create Tag/new": "recovered" } : {}),
    });
    expect(new Set(at.writes()).size).toBe(at.writes().length);
    const created = outcomes(result).find(({ address }) => address === "Integration/returns")?.message;
    expect(created).toContain(form.text.includes(words) ? `status 202 and the words "${words}"` : "status 202");
    const { plan } = await at.plan();
    expect(readySteps(plan)).toEqual([]);
    expect(blockedSteps(plan).map(({ address }) => address)).toEqual(["Asset/archive"]);
  });
});
