// Drift reads the account once, and says who changed it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { runCommand } from "../../support/command.ts";
import { byHandSteps, readySteps } from "../../support/steps.ts";
import { env, type Story, story } from "../drift/account.ts";

const manifests = {
  "orders.yaml":
    'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  rules: [{ match: { schema: public, table: users, column: "*" }, set: { hashed: true } }]\n',
  "tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: Another one }\n",
};

const pathsRead = ({ service }: Story): readonly string[] =>
  service.requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`).sort();

const once = ["GET /v1/audit-logs", "GET /v1/integrations", "GET /v1/integrations/8f1c/schemas", "GET /v1/tags"];

test("drift of the library reads the account once, and says who made the changes", async () => {
  const at = await story(manifests);
  const dana = { email: "dana@example.com" };
  at.service.mutate(() => {}, dana, 'Schema configuration of integration 8f1c "Orders" changed');
  const report = await at.report();
  expect(pathsRead(at)).toEqual(once);
  expect(report.calls.read).toEqual({ GET: once.length });
  expect(report.kind).toBe("DriftReport");
  const schemas = readySteps(report).filter(({ address }) => address.startsWith("Schemas/"));
  expect(schemas.map(({ attribution }) => attribution?.actor)).toEqual([dana.email]);
});

test("an event that quotes only the live name says who made a change and who did what is by hand, in JSON and in text", async () => {
  const at = await story({
    ...manifests,
    "sales.yaml":
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: sales }\nspec: { match: { name: Orders }, expect: { paused: false } }\n",
  });
  const [dana, sam] = ["dana@example.com", "sam@example.com"];
  at.service.mutate(
    ({ integrations }) => void Object.assign(integrations.find(({ id }) => id === "8f1c") ?? {}, { paused: true }),
    { email: sam },
    'Integration "Orders" paused',
  );
  at.service.mutate(() => {}, { email: dana }, 'Schema configuration of "Orders" changed');
  const report = await at.report();
  expect(byHandSteps(report)).toEqual([
    expect.objectContaining({
      address: "Integration/sales",
      liveName: "Orders",
      attribution: expect.objectContaining({ actor: sam, confidence: "exact" }),
    }),
  ]);
  expect(readySteps(report).find(({ address }) => address === "Schemas/sales")?.attribution?.actor).toBe(dana);
  const { stdout } = await runCommand(["drift"], at.folder, env(at.service));
  expect(stdout).toMatch(/paused[\s\S]*sam@example\.com, .* UTC/u);
  expect(stdout).toContain("dana@example.com");
});

test("a key without access to the audit log still gets a report, with a note", async () => {
  const at = await story(manifests);
  at.service.addFault("GET /v1/audit-logs=status:403");
  const { findings, exit, calls } = await at.report();
  expect(findings).toContainEqual(expect.objectContaining({ rule: "I_NO_ATTRIBUTION", severity: "info" }));
  expect([exit, calls.read]).toEqual([{ code: 2, reasons: ["drift"] }, { GET: once.length }]);
});

test("without differences, the audit log is not read", async () => {
  const at = await story({});
  await at.report();
  expect(pathsRead(at)).toEqual([]);
});

test("--resolve revert saves the plan of the drift that is shown, without reading the account again", async () => {
  const at = await story(manifests);
  const drift = async (...args: readonly string[]) => runCommand(["drift", "-o", "json", ...args], at.folder, env(at.service));
  const { stdout, stderr } = await drift("--resolve", "revert", "--out", "revert.json");
  expect(stderr).toContain("dimsync apply ");
  expect(pathsRead(at)).toEqual(once);
  const report = JSON.parse(stdout) as Plan;
  const plan = JSON.parse(readFileSync(join(at.folder, "revert.json"), "utf8")) as Plan;
  expect(plan.kind).toBe("Plan");
  expect(readySteps(plan).map(({ requests }) => requests)).toEqual(readySteps(report).map(({ requests }) => requests));
  const applied = await runCommand(["apply", "revert.json"], at.folder, env(at.service));
  expect(applied.code, applied.stderr + applied.stdout).toBe(0);
  expect((await drift()).code).toBe(0);
});

test("--resolve revert saves no plan if no request can undo the drift", async () => {
  const manifest =
    "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec: { match: { name: Orders }, expect: { paused: true } }\n";
  const at = await story({ "orders.yaml": manifest });
  const { code, stdout, stderr } = await runCommand(["drift", "--resolve", "revert"], at.folder, env(at.service));
  expect([code, stdout]).toEqual([2, expect.stringContaining("1 by hand")]);
  expect(stderr).toContain("dimsync: no plan was saved: no request can undo the drift.");
  expect(existsSync(join(at.folder, "revert.plan.json"))).toBe(false);
});
