import { expect, test } from "vitest";
import { modeOf } from "../../../src/controller/work/worker.ts";
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

const policy = `apiVersion: dimsync/v1
kind: Policy
metadata: { name: keys }
spec: { severity: error, module: keys.mjs, message: see the module }
`;
const finding = (text: string): string => `export default () => [{ message: "${text}" }];\n`;

test("code that a push brings only runs if the worker allows code, and always as it was pushed last", async () => {
  const { push, check } = await accountUnderControl({ every: "1m" });
  await push({ "manifests/policy.yaml": policy, "keys.mjs": finding("first") });
  const refused = await check();
  expect(refused).toMatchObject({ state: "failing", error: { code: "E_CODE_NOT_ALLOWED" }, findings: [] });
  expect(refused?.error?.message).toContain("manifests/policy.yaml:4:34: The policy is JavaScript in keys.mjs. ");
  const texts = async (): Promise<readonly unknown[]> => {
    const account = await check({ env: { DIMSYNC_ALLOW_CODE: "1" } });
    expect(account?.error).toBeUndefined();
    return account?.findings.filter(({ kind }) => kind === "policy").map(({ detail }) => detail.text) ?? [];
  };
  expect(await texts()).toEqual(["first"]);
  await push({ "keys.mjs": finding("second") });
  expect((await check())?.error?.code).toBe("E_CODE_NOT_ALLOWED");
  expect(await texts()).toEqual(["second"]);
});

test("an error of a policy module names files as the project does", async () => {
  const { push, check } = await accountUnderControl({ every: "1m" });
  const messageOf = async (module: string): Promise<string | undefined> => {
    await push({ "manifests/policy.yaml": policy, "keys.mjs": module });
    return (await check({ env: { DIMSYNC_ALLOW_CODE: "1" } }))?.error?.message;
  };
  expect(await messageOf('throw new Error("not today");\n')).toContain(": keys.mjs could not be loaded: Error: not today. ");
  const reading = 'import { readFileSync } from "node:fs";\nreadFileSync(new URL("keys.json", import.meta.url));\n';
  expect(await messageOf(reading)).toContain("Error: ENOENT: no such file or directory, open 'keys.json'. ");
  expect(await messageOf('export default () => { throw new Error("no keys"); };\n')).toContain("keys.mjs threw Error: no keys. ");
});

const asset = `apiVersion: dimsync/v1
kind: Asset
metadata: { name: archive }
lifecycle: { create: ifMissing }
spec: { name: Archive lake, type: s3, connectionType: destination, connection: { bucket: archive-example } }
`;

test("an account is not in sync while nobody knows whether an object was created", async () => {
  const { push, check } = await accountUnderControl({ every: "1m", mode: "apply" }, { faults: ["POST ^/v1/assets$=reset-after"] });
  await push({ "manifests/asset.yaml": asset });
  expect(await check()).toMatchObject({ error: { code: "E_UNKNOWN_OUTCOME" } });
  const later = await check();
  expect(later).toMatchObject({ state: "drifted", findings: [{ kind: "blocked", address: "Asset/archive" }] });
  expect(later?.findings[0]?.detail.text).toContain("dimsync resolve Asset/archive");
});
