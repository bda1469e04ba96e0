// Integrations with the same name: an account can have them, and an address must still have one
// meaning.
import { expect, test } from "vitest";
import type { EmbeddedOptions } from "../../../src/embedded/index.ts";
import type { Result } from "../../../src/index.ts";
import { openProject } from "../../support/open-project.ts";
import { outcomes, readySteps } from "../../support/steps.ts";

const manifests = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec:
  integrations: { names: [dup, orders, "{,none}"] }
  rules: [{ match: { column: "*email*" }, set: { hashed: true } }]
`;

async function start(options: EmbeddedOptions = {}, names: Readonly<Record<string, string>> = {}) {
  const project = await openProject({ "manifests/a.yaml": manifests }, { options });
  project.service.mutate((account) => {
    for (const [id, name] of Object.entries({ "51a1": "dup", "51a2": "dup", b27d: "orders", ...names }))
      Object.assign(account.integrations.find((one) => one.id === id) ?? {}, { name });
  });
  return project;
}

test("are distinguished by their ids", async () => {
  const { made } = await start();
  expect(
    readySteps(await made("plan"))
      .filter(({ address }) => address.startsWith("Schemas/"))
      .map(({ address, liveName }) => `${address} ${liveName}`),
  ).toEqual(["Schemas/51a1 dup", "Schemas/51a2 dup", "Schemas/Integration/orders Orders", "Schemas/orders orders"]);
});

test("has its id in addresses if its name is empty", async () => {
  const plan = await (await start({}, { b27d: "" })).made("plan", "--only", "Schemas/b27d");
  expect(readySteps(plan).map(({ address, liveName }) => `${address} ${liveName}`)).toEqual(["Schemas/b27d b27d"]);
});

test("each has its own outcome", async () => {
  const { run } = await start({ faults: ["PATCH /v1/integrations/51a1/=status:400"] });
  const { code, stdout } = await run("apply", "--yes", "-o", "json");
  expect(outcomes(JSON.parse(stdout) as Result).map(({ address, liveId, outcome }) => `${address} ${liveId} ${outcome}`)).toEqual([
    "Integration/orders 8f1c done",
    "Schemas/51a1 51a1 failed",
    "Schemas/51a2 51a2 done",
    "Schemas/Integration/orders 8f1c done",
    "Schemas/orders b27d done",
  ]);
  expect(code).toBe(4);
});
