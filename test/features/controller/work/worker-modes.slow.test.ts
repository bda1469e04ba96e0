import { expect, test } from "vitest";
import { modeOf } from "../../../../src/features/controller/work/worker.ts";
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
