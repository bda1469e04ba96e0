import { readFileSync, writeFileSync } from "node:fs";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Document } from "../../../../src/core/render/document.ts";
import { renderNdjson } from "../../../../src/core/render/machine/ndjson.ts";
import { startEmbeddedService } from "../../../../src/embedded/index.ts";
import { runCommand } from "../../../support/command.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan } from "../full-plan.ts";
import { protectPlan, protectResult } from "../held.ts";
import { fullResult } from "../results.ts";
import { eventSchema } from "./event-schema.ts";

const file = "schema/event.schema.json";

test("schema/event.schema.json consists of the schemas of the documents (UPDATE_SCHEMAS=1 updates it)", () => {
  if (process.env["UPDATE_SCHEMAS"] === "1") writeFileSync(file, `${JSON.stringify(eventSchema(), null, 2)}\n`);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(eventSchema());
});

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
const isEvent = ajv.compile(eventSchema());
/** The names of the events of a stream. Expects each to be valid. */
function eventsIn(text: string): readonly string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const event = JSON.parse(line) as { readonly event: string };
      expect(isEvent(event), `${line}\n${JSON.stringify(isEvent.errors, null, 1)}`).toBe(true);
      return event.event;
    });
}

const manifestDigest = `sha256:${"0".repeat(64)}`;
const documents: Readonly<Record<string, Document>> = {
  "a plan": { ...fullPlan, manifestDigest },
  "a plan with new columns": {
    ...fullPlan,
    manifestDigest,
    impact: [{ addresses: ["Schemas/orders"], schema: "public", table: "users", readers: [] }],
    loosened: [{ code: "released", subject: "Integration/forum", message: "It is gone.", at: "base", columns: 917 }],
    released: [{ address: "Integration/forum", id: "int-4", name: "Forum", columns: 917 }],
    newColumns: [
      { address: "Schemas/b", id: "8f1c", schema: "public", table: "users", column: "id", replicated: true, hashed: false, label: "pii" },
    ],
    goneColumns: [{ address: "Schemas/b", id: "8f1c", schema: "public", table: "users", column: "fax" }],
    neverReviewed: [{ address: "Schemas/c", id: "int-31", name: "Payroll", columns: 912 }],
    seenColumns: [{ integrations: ["8f1c"], schemas: { public: { users: ["id"] } } }],
  },
  "a drift report": { ...driftReport, manifestDigest },
  "a plan with --protect-only": { ...protectPlan, manifestDigest },
  "a result": fullResult,
  "a result with --protect-only": protectResult,
  "a validation": invalid,
};
test.each(Object.entries(documents))("every event of %s is valid", (_, document) => {
  expect(eventsIn(renderNdjson(document)).at(-1)).toBe("end");
});

test("every event is in one of them", () => {
  const names = Object.values(documents).flatMap((document) => eventsIn(renderNdjson(document)));
  const known = (eventSchema()["anyOf"] as readonly { properties: { event: { const: string } } }[]).map(
    (one) => one.properties.event.const,
  );
  expect(new Set(["progress", "error", ...names])).toEqual(new Set(known));
});

const [line = ""] = renderNdjson(fullPlan).split("\n");
const faulty: Readonly<Record<string, object>> = {
  "an unknown event": { event: "other" },
  "another major version": { formatVersion: "1.0" },
  "an unknown member": { more: 1 },
  "an item without its requests": { item: { ...JSON.parse(line).item, requests: undefined } },
};
test.each(Object.entries(faulty))("%s is refused", (_, change) => {
  expect(isEvent(JSON.parse(JSON.stringify({ ...JSON.parse(line), ...change })))).toBe(false);
});

describe("in real runs", () => {
  const manifests = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders }, expect: { paused: true } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  rules: [{ match: { table: "nothing*" }, set: { enabled: true } }]
  schemas: { public: { tables: { customers: { columns: { email: { hashed: true } } } } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gone }
spec: { name: Gone, resources: [{ integration: orders }] }
`;

  test("validate, plan, drift, apply and saved documents", async () => {
    const service = await startEmbeddedService();
    onTestFinished(() => service.close());
    const root = writeProject({ "dimsync.yaml": configText(service.url), "manifests/a.yaml": manifests });
    const run = async (...argv: readonly string[]): Promise<readonly string[]> =>
      eventsIn((await runCommand([...argv, "-o", "ndjson"], root, { [keyVariable]: service.apiKey })).stdout);
    expect(await run("validate")).toEqual(["end"]);
    expect(await run("plan", "--out", "plan.json")).toEqual(
      expect.arrayContaining(["progress", "item", "manual", "blocked", "diagnostic", "end"]),
    );
    expect(await run("drift")).toEqual(expect.arrayContaining(["progress", "item", "manual", "end"]));
    expect(await run("apply", "--yes", "--result", "result.json")).toEqual(expect.arrayContaining(["progress", "outcome", "end"]));
    await service.close();
    expect((await run("snapshot", "--out", "s.json")).at(-1)).toBe("error");
    writeFileSync(`${root}/dimsync.yaml`, "apiVersion: dimsync/v1\nkind: Config\nwrong: true\n");
    expect(await run("plan")).toEqual(["diagnostic", "error"]);
    for (const saved of ["plan.json", "result.json"]) expect((await run("show", saved)).at(-1)).toBe("end");
  });
});
