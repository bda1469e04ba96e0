import { expect, test } from "vitest";
import { modeOf } from "../../../../src/features/controller/work/worker.ts";
import { accountChanges } from "../../../support/accounts/changes.ts";
import { accountUnderControl } from "./account-under-control.ts";

const writesTo = (requests: readonly { readonly method: string }[]): number => requests.filter(({ method }) => method !== "GET").length;

test.each([
  ["report", "apply", "report"],
  ["protect", "apply", "protect"],
  ["apply", "apply", "apply"],
  ["apply", "protect", "protect"],
  ["protect", "protect", "protect"],
  ["report", "protect", "report"],
  ["apply", "report", "report"],
  ["protect", "report", "report"],
] as const)("an account in mode %s, on a worker with --max-mode %s, is in mode %s", (mode, maxMode, expected) => {
  expect(modeOf({ mode }, { maxMode })).toBe(expected);
});

test("a worker with --max-mode report sends nothing to an account in mode apply, and one without it does", async () => {
  const { push, check, service } = await accountUnderControl({ every: "1m", mode: "apply" });
  await push();
  expect(await check({ maxMode: "report" })).toMatchObject({ state: "exposed", runs: [{ mode: "report" }] });
  expect(writesTo(service.requests)).toBe(0);
  expect(await check()).toMatchObject({ state: "in-sync", runs: [{ mode: "apply" }, {}, {}] });
  expect(writesTo(service.requests)).toBe(1);
});

const pausedOrders = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec:
  match: { sourceName: orders-pg }
  settings: { name: Orders (EU), paused: true, replicationFrequency: cron, cronExpression: 0 4 * * * }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { syncMode: full refresh, columns: { email: { hashed: true } } } } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: finance }
spec: { name: Finance, exclusive: true }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gdpr }
lifecycle: { create: ifMissing }
spec: { name: GDPR, owner: u-1 }
`;

test("protect sends no name, pause, schedule, sync mode or tag, neither beside a column that it protects nor alone", async () => {
  const { push, check, service } = await accountUnderControl({ every: "1m", mode: "protect" }, { extended: true });
  await push({ "manifests/all.yaml": pausedOrders });
  const writes = () => service.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  const wanted = service.state();
  const orders = wanted.integrations.find(({ source }) => source.name === "orders-pg");
  Object.assign(orders?.schemas["public"]?.tables["customers"]?.columns["email"] ?? {}, { hashed: true });
  expect(await check()).toMatchObject({ state: "drifted", runs: [{ mode: "protect" }, {}] });
  expect(writes()).toEqual([`PATCH /v1/integrations/${orders?.id}/schemas`]);
  expect(accountChanges(wanted, service.state())).toEqual([]);
  expect(await check()).toMatchObject({ state: "drifted", runs: [{ mode: "report" }, {}, {}] });
  expect(writes()).toHaveLength(1);
});

test("protect does not count attempts in which nothing was reverted", async () => {
  const faults = [1, 2, 3].map((time) => `PATCH ^/v1/integrations/8f1c/schemas$@${time}=status:403`);
  const { push, check, service } = await accountUnderControl({ every: "1m", mode: "protect" }, { faults });
  await push();
  for (const time of [1, 2, 3])
    expect(await check(), `check ${time}`).toMatchObject({ state: "exposed", error: { code: "E_UNAUTHORIZED" } });
  expect(writesTo(service.requests)).toBe(3);
  expect(await check()).toMatchObject({ state: "in-sync" });
});

const asset = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: archive }
lifecycle: { create: ifMissing }
spec: { name: Archive lake, type: s3, connectionType: destination, connection: { bucket: archive-example } }
`;

test("the command of a secret only runs if the worker allows code", async () => {
  const { push, check, service } = await accountUnderControl({ every: "1m", mode: "apply" });
  const secret = `secret_key: { $secret: { exec: [${JSON.stringify(process.execPath)}, -p, "1"] } }`;
  await push({ "manifests/asset.yaml": asset.replace("connection: {", `connection: { ${secret},`) });
  expect(await check()).toMatchObject({ error: { code: "E_CODE_NOT_ALLOWED" } });
  expect(writesTo(service.requests)).toBe(0);
  expect((await check({ env: { DIMSYNC_ALLOW_CODE: "1" } }))?.error).toBeUndefined();
  expect(writesTo(service.requests)).toBeGreaterThan(0);
});

test("an account is not in sync while nobody knows whether an object was created", async () => {
  const { push, check } = await accountUnderControl({ every: "1m", mode: "apply" }, { faults: ["POST ^/v1/assets$=reset-after"] });
  await push({ "manifests/asset.yaml": asset });
  expect(await check()).toMatchObject({ error: { code: "E_UNKNOWN_OUTCOME" } });
  const later = await check();
  expect(later).toMatchObject({ state: "drifted", findings: [{ kind: "blocked", address: "Asset/archive" }] });
  expect(later?.findings[0]?.detail.text).toContain("dimsync resolve Asset/archive");
});

test("a repair that could not read everything is a failure", async () => {
  const faults = ["GET ^/v1/integrations/8f1c/schemas$@2=status:403"];
  const { push, check } = await accountUnderControl({ every: "1m", mode: "apply" }, { faults });
  await push({ "manifests/asset.yaml": asset });
  expect(await check()).toMatchObject({ state: "exposed", error: { code: "E_READ_FAILED" }, runs: [{ exit: { code: 4 } }, {}] });
  expect(await check()).toMatchObject({ state: "in-sync" });
});
