// A plan and a drift report have everything that the account and the manifests say.
import { describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { unmanagedObjects } from "../../../src/core/base/model/plan.ts";
import { runCommand } from "../../support/command.ts";
import { configText, keyVariable, writeProject } from "../../support/project-folder.ts";
import { returnsManifest } from "../../support/returns.ts";
import { startService, type TestService } from "../../support/service.ts";
import { byHandSteps, readySteps } from "../../support/steps.ts";

/**
 * Everything that a plan can contain, in one account: items of each action, by hand, blocked,
 * waiting, unseen, guards, diagnostics.
 */
const everything = `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec: { name: Archive, type: s3, connectionType: destination, secretVersion: 1, connection: { key: { $secret: { env: LAKE_KEY } } } }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: warehouse, id: d-12 }
spec: { name: Warehouse, type: bigquery, description: Central }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: lost }
spec: { name: Lost }
---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders }, expect: { paused: true } }
---
${returnsManifest({ destination: "{ asset: lake }", secretEnv: "LAKE_KEY" })}---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  missing: warn
  schemas: { public: { tables: { nosuch: { enabled: true }, customers: { columns: { email: { hashed: true } } }, payments: { columns: { iban: { hashed: false } } } } } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: returns }
spec: { integration: returns, schemas: { public: { enabled: true } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii }
spec: { name: PII, description: New, exclusive: true, taggedBy: u-3, resources: [{ integration: Billing }, { integration: returns }] }
`;

async function project(
  manifests = everything,
  parts: Record<string, unknown> = {},
): Promise<{ service: TestService; folder: string; env: Record<string, string> }> {
  const service = await startService();
  onTestFinished(service.close);
  const folder = writeProject({ "dimsync.yaml": configText(service.url, parts), "manifests/all.yaml": manifests });
  return { service, folder, env: { [keyVariable]: service.apiKey, LAKE_KEY: "canary" } };
}

// `runCommand` refuses documents that their schema refuses.
describe("a plan and a drift report", () => {
  test("contain everything that they can, and match their schemas", async () => {
    const { folder, env } = await project(everything, { guards: { maxExposedColumns: 0 } });
    const plan = await runCommand(["plan", "-o", "json", "-q"], folder, env);
    expect(JSON.parse(plan.stdout).counts).toMatchObject({
      create: 1,
      update: 3,
      relate: 1,
      bind: 2,
      protects: 1,
      exposes: 1,
    });
    expect(JSON.parse(plan.stdout)).toMatchObject({
      findings: [{ rule: "W_MISSING_NAME" }, { rule: "maxExposedColumns", guard: {} }],
      exit: { code: 3 },
    });
    expect(plan.code).toBe(3);
    const drift = await runCommand(["drift", "-o", "json", "-q"], folder, env);
    expect(drift.code).toBe(3);
  });
});

describe("drift", () => {
  const managed = `
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders, id: "8f1c" }
spec: { expect: { paused: false } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: orders, schemas: { public: { tables: { payments: { columns: { iban: { hashed: true } } } } } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii, id: t-1 }
spec: { name: PII, description: Contains personal data }
`;
  const rows: readonly [sentence: string, change: Parameters<TestService["mutate"]>[0], code: number, summary: object, byHand?: number][] =
    [
      ["none, although ids are not recorded yet", () => {}, 0, { bind: 2, equal: 1 }],
      [
        "a column that was unhashed outside dimsync",
        ({ integrations }) => {
          const iban = integrations[0]?.schemas["public"]?.tables["payments"]?.columns["iban"];
          if (iban !== undefined) iban.hashed = false;
        },
        2,
        { update: 1, exposed: 1, stricter: 0 },
      ],
      [
        "an integration that was paused, which only a user can fix",
        ({ integrations }) => {
          for (const integration of integrations) integration.paused = true;
        },
        2,
        { update: 0 },
        1,
      ],
      [
        "a tag that is gone",
        (account) => {
          account.tags = account.tags.filter(({ id }) => id !== "t-1");
        },
        2,
        {},
        1,
      ],
    ];
  test.each(rows)("%s", async (_, change, code, summary, byHand = 0) => {
    const { service, folder, env } = await project(managed);
    service.mutate(change);
    const before = service.state();
    const ran = await runCommand(["drift", "-o", "json", "-q"], folder, env);
    const report = JSON.parse(ran.stdout) as Plan;
    expect(report).toMatchObject({ kind: "DriftReport", counts: summary });
    expect(byHandSteps(report)).toHaveLength(byHand);
    expect(ran.code).toBe(code);
    expect(service.counts()).toEqual({ GET: service.requests.length });
    expect(service.state()).toEqual(before);
  });

  test("unmanaged objects are counted and listed by name", async () => {
    const { folder, env } = await project(managed);
    const report = JSON.parse((await runCommand(["drift", "-o", "json", "-q"], folder, env)).stdout);
    expect(
      unmanagedObjects(report.unmanaged)
        .get("integrations")
        ?.map(({ name }: { name: string }) => name),
    ).toEqual(["Billing", "shop-shard-01", "shop-shard-02"]);
    expect(
      unmanagedObjects(report.unmanaged)
        .get("tags")
        ?.map(({ name }: { name: string }) => name),
    ).toEqual(["Finance", "Gold"]);
    expect(report.unmanaged.columns).toBe(46);
  });

  test("every change has an origin, which is unknown without a base", async () => {
    const { folder, env } = await project(managed);
    const report: Plan = JSON.parse((await runCommand(["drift", "-o", "json", "-q"], folder, env)).stdout);
    const origins = readySteps(report).flatMap(({ changes }) => changes.map(({ origin }) => origin));
    expect(origins.length).toBeGreaterThan(0);
    expect(new Set([...origins, ...byHandSteps(report).map(({ origin }) => origin)])).toEqual(new Set(["unknown"]));
    const planned: Plan = JSON.parse((await runCommand(["plan", "-o", "json", "-q"], folder, env)).stdout);
    expect(
      readySteps(planned)
        .flatMap(({ changes }) => changes)
        .every((change) => !("origin" in change)),
    ).toBe(true);
  });

  test("a column that lost its hash is exposed, and one that got a hash is stricter, in JSON and --fail-on", async () => {
    const { service, folder, env } = await project(managed.replace("hashed: true", "hashed: false"));
    const run = async (...flags: readonly string[]) => runCommand(["drift", "-o", "json", "-q", ...flags], folder, env);
    const set = (hashed: boolean) =>
      service.mutate(({ integrations }) => {
        const iban = integrations[0]?.schemas["public"]?.tables["payments"]?.columns["iban"];
        if (iban !== undefined) iban.hashed = hashed;
      });
    set(true);
    const stricter = await run("--fail-on", "exposed");
    expect(JSON.parse(stricter.stdout)).toMatchObject({
      steps: expect.arrayContaining([expect.objectContaining({ changes: [expect.objectContaining({ risk: "stricter" })] })]),
      counts: { exposed: 0, stricter: 1 },
      exit: { reasons: ["drift"] },
    });
    expect((await run("--fail-on", "stricter")).stdout).toContain('"stricter"');
  });
});
